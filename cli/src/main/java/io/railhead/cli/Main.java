package io.railhead.cli;

import io.railhead.cli.admin.AdminCommand;
import io.railhead.cli.completion.CompletionCommand;
import io.railhead.cli.demo.DemoCommand;
import io.railhead.cli.dev.DevCommand;
import io.railhead.cli.disk.DiskCommand;
import io.railhead.cli.doctor.DoctorCommand;
import io.railhead.cli.policy.PolicyCommand;
import io.railhead.cli.qualify.QualifyCommand;
import io.railhead.cli.reading.ReadingClientCommand;
import io.railhead.cli.site.BenchCommand;
import io.railhead.cli.training.TrainCommand;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.util.Properties;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The one command behind {@code ./railhead}. Exit status: 0 done, 1 failed with one line, 2
 * misused.
 */
@Command(name = "railhead", mixinStandardHelpOptions = true, versionProvider = Main.Version.class, scope = CommandLine.ScopeType.INHERIT, description = "S3 objects from memory next to the GPU nodes.", subcommands = {
        ServeCommand.class, DevCommand.class, DemoCommand.class, GetCommand.class, PutCommand.class,
        LsCommand.class, PrefetchCommand.class,
        DoctorCommand.class, QualifyCommand.class, AdminCommand.class, PolicyCommand.class,
        DiskCommand.class, CompletionCommand.class,
        BenchCommand.class, ReadingClientCommand.class, TrainCommand.class})
public final class Main implements Runnable {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    public static void main(String[] args) {
        int status = commandLine().execute(args);
        System.exit(status);
    }

    static CommandLine commandLine() {
        CommandLine line = new CommandLine(new Main());
        line.setCaseInsensitiveEnumValuesAllowed(true);
        line.setParameterExceptionHandler(Misuse::explain);
        line.setExecutionExceptionHandler((failure, command, parsed) -> {
            PrintWriter err = command.getErr();
            err.println("railhead: " + OneLine.of(failure));
            err.flush();
            return 1;
        });
        return line;
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "Say what to do.");
    }

    /** The version and commit that the build wrote into the jar, and the Java runtime. */
    static final class Version implements IVersionProvider {
        private static final String COMMIT = "commit.properties";

        @Override
        public String[] getVersion() throws IOException {
            String version = Main.class.getPackage().getImplementationVersion();
            return new String[]{"railhead " + (version == null ? "(not packaged)" : version),
                    "commit " + commit(),
                    System.getProperty("java.vm.name") + " " + Runtime.version() + " on "
                            + System.getProperty("os.arch")};
        }

        /** Returns "unknown" if the sources came without their history. */
        private static String commit() throws IOException {
            Properties built = new Properties();
            try (InputStream properties = Main.class.getResourceAsStream(COMMIT)) {
                if (properties != null) {
                    built.load(properties);
                }
            }
            String changed = Boolean.parseBoolean(built.getProperty("git.dirty"))
                    ? ", with changes"
                    : "";
            return built.getProperty("git.commit.id.abbrev", "unknown") + changed;
        }
    }
}
