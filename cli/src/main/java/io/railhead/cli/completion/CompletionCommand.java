package io.railhead.cli.completion;

import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Prints a completion script, generated from the command definitions. */
@Command(name = "completion", description = {"Print a script that completes commands and options.",
        "bash: source <(railhead completion bash)", "zsh:  source <(railhead completion zsh)",
        "fish: railhead completion fish | source"})
public final class CompletionCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(paramLabel = "bash|zsh|fish", description = "Shell that reads the script.")
    private Shell shell = Shell.BASH;

    enum Shell {
        BASH,
        ZSH,
        FISH
    }

    @Override
    public Integer call() {
        CommandLine railhead = spec.root().commandLine();
        String name = railhead.getCommandName();
        PrintWriter out = spec.commandLine().getOut();
        out.print(switch (shell) {
            // One script for both: zsh emulates bash's completion.
            case BASH, ZSH -> AutoComplete.bash(name, railhead);
            case FISH -> new FishScript(name).of(railhead.getCommandSpec());
        });
        out.flush();
        return CommandLine.ExitCode.OK;
    }
}
