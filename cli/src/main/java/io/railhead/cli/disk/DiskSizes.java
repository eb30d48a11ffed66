package io.railhead.cli.disk;

import java.util.Locale;

/** Formats sizes for people, with the exact count where it is rounded. */
final class DiskSizes {
    private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB"};

    private DiskSizes() {}

    static String of(long bytes) {
        double count = bytes;
        int unit = 0;
        while (count >= 1024 && unit < UNITS.length - 1) {
            count /= 1024;
            unit++;
        }
        return count % 1 == 0
                ? String.format(Locale.ROOT, "%.0f %s", count, UNITS[unit])
                : String.format(Locale.ROOT, "%.1f %s (%d B)", count, UNITS[unit], bytes);
    }
}
