package io.railhead.cli.completion;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** A completion script for fish, which picocli cannot generate. One use, one thread. */
final class FishScript {
    private final String program;
    private final StringBuilder script = new StringBuilder();

    FishScript(String program) {
        this.program = program;
    }

    /**
     * Returns the script: first the commands, then the options of each. Files are completed for
     * parameters that are files.
     */
    String of(CommandSpec root) {
        script.append("complete -c ").append(program).append(" -e\n");
        add(root, List.of());
        return script.toString();
    }

    private void add(CommandSpec command, List<String> path) {
        List<CommandLine> visible = command.subcommands()
                .values()
                .stream()
                .distinct()
                .filter(each -> !each.getCommandSpec().usageMessage().hidden())
                .toList();
        for (CommandLine each : visible) {
            line(path, names(visible), "-f -a " + each.getCommandName(),
                    description(each.getCommandSpec().usageMessage().description()));
        }
        for (OptionSpec option : command.options()) {
            if (!option.hidden()) {
                line(path, names(visible), flags(option), description(option.description()));
            }
        }
        for (CommandLine each : visible) {
            List<String> deeper = new ArrayList<>(path);
            deeper.add(each.getCommandName());
            add(each.getCommandSpec(), deeper);
        }
    }

    private static List<String> names(List<CommandLine> commands) {
        return commands.stream().map(CommandLine::getCommandName).toList();
    }

    /** Adds an offer behind the commands of {@code path}, and before any that follows it. */
    private void line(List<String> path, List<String> following, String offer,
            String description) {
        List<String> conditions = new ArrayList<>();
        path.forEach(name -> conditions.add("__fish_seen_subcommand_from " + name));
        if (!following.isEmpty()) {
            conditions.add("not __fish_seen_subcommand_from " + String.join(" ", following));
        }
        script.append("complete -c ").append(program);
        if (!conditions.isEmpty()) {
            script.append(" -n ").append(quote(String.join("; and ", conditions)));
        }
        script.append(' ').append(offer).append(" -d ").append(quote(description)).append('\n');
    }

    private static String flags(OptionSpec option) {
        StringBuilder flags = new StringBuilder();
        for (String name : option.names()) {
            flags.append(name.startsWith("--")
                    ? "-l " + name.substring(2)
                    : "-s "
                            + name.substring(1))
                    .append(' ');
        }
        if (option.completionCandidates() != null) {
            flags.append("-x -a ").append(quote(String.join(" ", option.completionCandidates())));
        } else if (option.arity().max() > 0) {
            flags.append("-r");
        }
        return flags.toString().strip();
    }

    private static String description(String[] lines) {
        return lines.length == 0 ? "" : lines[0].replace("%n", " ").replace("%%", "%");
    }

    private static String quote(String text) {
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
    }
}
