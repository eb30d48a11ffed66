package io.railhead.cli;

import io.railhead.cli.local.Json;
import java.io.PrintWriter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/** Options for the report of a success. */
final class TellOptions {
    @Spec(Target.MIXEE)
    private CommandSpec command = CommandSpec.create();

    @Option(names = {"-v",
            "--verbose"}, description = "Say what was done, also where the standard error is no terminal.")
    private boolean verbose;

    @Option(names = "--json", description = "Write what was done to the standard output, one JSON object a line.")
    private boolean json;

    boolean isJson() {
        return json;
    }

    ProgressLine progress() {
        return new ProgressLine(command.commandLine().getErr(), ProgressLine.isTerminal());
    }

    /** Reports a result: as text for people, as a record for programs. */
    void tell(Object done) {
        if (json) {
            PrintWriter out = command.commandLine().getOut();
            out.println(Json.line(done));
            out.flush();
        }
        if (verbose || ProgressLine.isTerminal()) {
            PrintWriter err = command.commandLine().getErr();
            err.println(done);
            err.flush();
        }
    }
}
