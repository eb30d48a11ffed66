package io.railhead.cli.site;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The measurements for users; those for Railhead's developers are in benchmarks/. */
@Command(name = "bench", description = "Measure Railhead on this machine.", subcommands = SiteCommand.class)
public final class BenchCommand implements Runnable {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(),
                "Say what to measure: site.");
    }
}
