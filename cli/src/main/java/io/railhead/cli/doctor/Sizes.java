package io.railhead.cli.doctor;

import java.util.Locale;

/** Formats sizes and times for people. */
final class Sizes {
    private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB"};

    private Sizes() {}

    static String of(long bytes) {
        if (bytes == Long.MAX_VALUE) {
            return "unlimited";
        }
        double count = bytes;
        int unit = 0;
        while (count >= 1024 && unit < UNITS.length - 1) {
            count /= 1024;
            unit++;
        }
        return String.format(Locale.ROOT, count % 1 == 0 ? "%.0f %s" : "%.1f %s", count,
                UNITS[unit]);
    }

    static String millis(long nanos) {
        return String.format(Locale.ROOT, nanos < 10_000_000 ? "%.1f ms" : "%.0f ms",
                nanos / 1e6);
    }
}
