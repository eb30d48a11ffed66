package io.railhead.cli.admin;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** Parses durations as in the configuration, in whole seconds. */
final class Durations {
    private static final Pattern DURATION = Pattern.compile("([0-9]{1,6})([smh])");

    private Durations() {}

    static long seconds(CommandSpec spec, String option, String text) {
        Matcher matcher = DURATION.matcher(text);
        if (!matcher.matches()) {
            throw new ParameterException(spec.commandLine(),
                    option + ": '" + text + "' is not a duration such as 30s, 10m, 1h");
        }
        long unit = switch (matcher.group(2)) {
            case "h" -> 3600;
            case "m" -> 60;
            default -> 1;
        };
        return Long.parseLong(matcher.group(1)) * unit;
    }
}
