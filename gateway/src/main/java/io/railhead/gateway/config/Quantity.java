package io.railhead.gateway.config;

import java.time.Duration;

/** A whole number and the unit behind it. */
record Quantity(String text, long count, String unit, String wanted) {

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
        long millis = switch (quantity.unit) {
            case "ms" -> 1;
            case "s" -> 1_000;
            case "m" -> 60_000;
            case "h" -> 3_600_000;
            case "d" -> 86_400_000;
            default -> quantity.count == 0 && quantity.unit.isEmpty() ? 1 : throwing(quantity);
        };
        if (quantity.count > Duration.ofDays(36_500).toMillis() / millis) {
            throw quantity.refuse();
        }
        return Duration.ofMillis(quantity.count * millis);
    }

    static Percent percent(String text) {
        Quantity quantity = split(text, "a percentage such as 5%");
        if (!quantity.unit.equals("%") || quantity.count > 100) {
            throw quantity.refuse();
        }
        return new Percent((int) quantity.count);
    }

    private static long throwing(Quantity quantity) {
        throw quantity.refuse();
    }

    IllegalArgumentException refuse() {
        return refusal(text, wanted);
    }

    private static IllegalArgumentException refusal(String text, String wanted) {
        return new IllegalArgumentException("'" + text + "' is not " + wanted);
    }
}
