package io.railhead.gateway.config;

import java.time.Duration;
import java.time.temporal.ChronoUnit;

/** A whole number with its unit. */
record Quantity(String text, long count, String unit, String wanted) {
    private static final Duration LONGEST = Duration.ofDays(36_500);

    static Quantity split(String text, String wanted) {
        int end = 0;
        while (end < text.length() && text.charAt(end) >= '0' && text.charAt(end) <= '9') {
            end++;
        }
        try {
            return new Quantity(text, Long.parseLong(text.substring(0, end)),
                    text.substring(end).strip(), wanted);
        } catch (NumberFormatException e) {
            throw refusal(text, wanted);
        }
    }

    static Duration duration(String text) {
        Quantity quantity = split(text, "a duration such as 500ms, 30s, 2m, 1h");
        if (text.equals("0")) {
            return Duration.ZERO;
        }
        ChronoUnit unit = switch (quantity.unit) {
            case "us" -> ChronoUnit.MICROS;
            case "ms" -> ChronoUnit.MILLIS;
            case "s" -> ChronoUnit.SECONDS;
            case "m" -> ChronoUnit.MINUTES;
            case "h" -> ChronoUnit.HOURS;
            case "d" -> ChronoUnit.DAYS;
            default -> throw quantity.refuse();
        };
        if (quantity.count > LONGEST.dividedBy(unit.getDuration())) {
            throw quantity.refuse();
        }
        return Duration.of(quantity.count, unit);
    }

    static Percent percent(String text) {
        Quantity quantity = split(text, "a percentage such as 5%");
        if (!quantity.unit.equals("%") || quantity.count > 100) {
            throw quantity.refuse();
        }
        return new Percent((int) quantity.count);
    }

    IllegalArgumentException refuse() {
        return refusal(text, wanted);
    }

    private static IllegalArgumentException refusal(String text, String wanted) {
        return new IllegalArgumentException("'" + text + "' is not " + wanted);
    }
}
