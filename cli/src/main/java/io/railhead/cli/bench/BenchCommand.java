package io.railhead.cli.bench;

import io.railhead.cli.site.SiteCommand;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The benchmarks. */
@Command(name = "bench", description = "Measure Railhead on this machine.", subcommands = {
        PeersCommand.class, MissesCommand.class, SiteCommand.class})
public final class BenchCommand implements Runnable {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    /** The command, as it was typed. */
    static String typed(CommandSpec spec) {
        return "./railhead " + String.join(" ", spec.root()
                .commandLine()
                .getParseResult()
                .originalArgs());
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(),
                "Say what to measure: peers, misses, site.");
    }
}
