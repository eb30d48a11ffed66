package io.railhead.cli.policy;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The commands that try out a policy file. */
@Command(name = "policy", description = "Try out a policy file, without a gateway.", subcommands = {
        PolicyTestCommand.class})
public final class PolicyCommand implements Runnable {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "Say what to do.");
    }
}
