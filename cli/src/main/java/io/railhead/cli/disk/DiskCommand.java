package io.railhead.cli.disk;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The commands on the files and devices of {@code cache.disk}. */
@Command(name = "disk", description = "Look at a file or device of the disk tier, or empty it.", subcommands = {
        ShowCommand.class, FormatCommand.class})
public final class DiskCommand implements Runnable {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "Say what to do.");
    }
}
