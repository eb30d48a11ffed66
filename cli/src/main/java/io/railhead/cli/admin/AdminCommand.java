package io.railhead.cli.admin;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The commands for a running gateway. */
@Command(name = "admin", description = "Have a running gateway warm, pin or evict objects, drain, log more, say who used it, show its cluster, write back, export or discard what is pending, or tell its state for a report.", footer = {
        "", "Calls are signed; the principal needs admin: true in the gateway's credentials file.",
        "Exit status: 0 done, 1 refused or not done whole, 2 misused."}, subcommands = {
                WarmCommand.class, PinCommand.class, UnpinCommand.class, PinsCommand.class,
                EvictCommand.class, EraseCommand.class, DrainCommand.class, LogLevelCommand.class,
                UsageCommand.class, MembersCommand.class, PendingCommand.class, RetryCommand.class,
                FlushCommand.class, ExportCommand.class, DiscardCommand.class,
                SupportBundleCommand.class})
public final class AdminCommand implements Runnable {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "Say what to do.");
    }
}
