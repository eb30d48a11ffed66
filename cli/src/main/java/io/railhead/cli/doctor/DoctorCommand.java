package io.railhead.cli.doctor;

import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Says what this machine lacks; exit 0 if nothing fails, 1 if something is to be mended. */
@Command(name = "doctor", description = "Say what this machine lacks for a gateway, and how to mend it.")
public final class DoctorCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(names = "--config", paramLabel = "FILE", description = "Configuration to hold the machine against; default: /etc/railhead/railhead.yaml if there is one.")
    private @Nullable Path config;

    @Option(names = "--json", description = "For programs.")
    private boolean json;

    @Override
    public Integer call() {
        DoctorReport report = new DoctorReport(new Doctor(Host.local()).examine(config));
        var out = spec.commandLine().getOut();
        if (json) {
            out.println(report.toJson());
            out.flush();
        } else {
            report.print(out, Ansi.AUTO);
        }
        return report.isFine() ? 0 : 1;
    }
}
