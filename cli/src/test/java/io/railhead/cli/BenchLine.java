package io.railhead.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import picocli.CommandLine;

/** The command line from the inside, for tests of other packages. */
public final class BenchLine {
    private BenchLine() {}

    /** How it ended and what it printed. */
    public record Outcome(int status, String out, String err) {}

    public static Outcome run(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine line = Main.commandLine();
        line.setOut(new PrintWriter(out, true));
        line.setErr(new PrintWriter(err, true));
        return new Outcome(line.execute(arguments), out.toString(), err.toString());
    }
}
