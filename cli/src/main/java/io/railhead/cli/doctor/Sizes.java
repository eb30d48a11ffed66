package io.railhead.cli.doctor;

import java.util.Locale;

/** Sizes as people read them. */
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
}
