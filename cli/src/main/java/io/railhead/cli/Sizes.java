package io.railhead.cli;

import java.util.Locale;

/** Formats sizes and times for people. */
public final class Sizes {
    private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    private static final double STEP = 1024;

    private Sizes() {}

    /** A count of some unit. */
    private record Scaled(double count, int unit) {
        static Scaled of(long bytes) {
            double count = bytes;
            int unit = 0;
            while (Math.abs(count) >= STEP && unit < UNITS.length - 1) {
                count /= STEP;
                unit++;
            }
            return new Scaled(count, unit);
        }

        boolean isWhole() {
            return count % 1 == 0;
        }

        String text(int decimals) {
            return String.format(Locale.ROOT, "%." + decimals + "f %s", count, UNITS[unit]);
        }
    }

    /** Returns such as 1.5 GiB, 64 MiB or unlimited. */
    public static String of(long bytes) {
        Scaled scaled = Scaled.of(bytes);
        return bytes == Long.MAX_VALUE ? "unlimited" : scaled.text(scaled.isWhole() ? 0 : 1);
    }

    /** Returns the same, with the count of bytes where that is rounded. */
    public static String exact(long bytes) {
        return of(bytes) + (Scaled.of(bytes).isWhole() ? "" : " (" + bytes + " B)");
    }

    /** Returns a size for a column, with a decimal above bytes; one less than zero has its sign. */
    public static String column(long bytes) {
        Scaled scaled = Scaled.of(bytes);
        return scaled.text(scaled.unit() == 0 ? 0 : 1);
    }

    public static String millis(long nanos) {
        return String.format(Locale.ROOT, nanos < 10_000_000 ? "%.1f ms" : "%.0f ms",
                nanos / 1e6);
    }
}
