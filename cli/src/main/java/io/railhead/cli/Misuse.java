package io.railhead.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Explains a wrong argument, and suggests the probably intended one. */
final class Misuse {
    private Misuse() {}

    static int explain(ParameterException misuse, String[] arguments) {
        CommandLine command = misuse.getCommandLine();
        PrintWriter err = command.getErr();
        CommandSpec spec = command.getCommandSpec();
        if (misuse instanceof UnmatchedArgumentException unmatched) {
            String word = unmatched.getUnmatched().getFirst().replaceFirst("=.*", "");
            boolean isCommand = !word.startsWith("-") && !command.getSubcommands().isEmpty();
            err.println("railhead: unknown " + (isCommand ? "command" : "argument") + " '" + word
                    + "'" + nearest(word, known(spec))
                            .map(known -> "; did you mean '" + known + "'?")
                            .orElse(""));
        } else {
            // picocli doubles the word where a key has no value.
            err.println("railhead: " + OneLine.of(misuse).replace("option option", "option"));
        }
        err.println("'" + spec.qualifiedName() + " --help' lists what there is.");
        err.flush();
        return spec.exitCodeOnInvalidInput();
    }

    private static List<String> known(CommandSpec spec) {
        List<String> known = new ArrayList<>();
        spec.subcommands().forEach((name, subcommand) -> {
            if (!subcommand.getCommandSpec().usageMessage().hidden()) {
                known.add(name);
            }
        });
        spec.options().forEach(option -> known.addAll(List.of(option.names())));
        return known;
    }

    /** Returns the nearest word; none if more than a third of the letters would change. */
    private static Optional<String> nearest(String word, List<String> known) {
        return known.stream()
                .filter(each -> distance(word, each) * 3 <= Math.max(3, word.length()))
                .min(Comparator.comparingInt(each -> distance(word, each)));
    }

    /** Counts the letters to add, remove, change or swap with the next one. */
    private static int distance(String from, String to) {
        int[][] of = new int[from.length() + 1][to.length() + 1];
        for (int i = 0; i <= from.length(); i++) {
            for (int j = 0; j <= to.length(); j++) {
                of[i][j] = i == 0 || j == 0 ? i + j : step(of, from, to, i, j);
            }
        }
        return of[from.length()][to.length()];
    }

    private static int step(int[][] of, String from, String to, int i, int j) {
        int changed = of[i - 1][j - 1] + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
        int least = Math.min(changed, Math.min(of[i - 1][j], of[i][j - 1]) + 1);
        boolean isSwapped = i > 1 && j > 1 && from.charAt(i - 1) == to.charAt(j - 2)
                && from.charAt(i - 2) == to.charAt(j - 1);
        return isSwapped ? Math.min(least, of[i - 2][j - 2] + 1) : least;
    }
}
