package io.railhead.cli.bench;

import java.util.Arrays;

/** Request latencies, in the order in which the requests ended. Any thread. */
final class Latencies {
    /** So that what takes minutes fits into an int. */
    private static final int UNIT_NANOS = 100;

    private int[] units = new int[1 << 12];
    private int count;

    synchronized void add(long nanos) {
        if (count == units.length) {
            units = Arrays.copyOf(units, 2 * count);
        }
        units[count++] = (int) Math.min(Integer.MAX_VALUE, nanos / UNIT_NANOS);
    }

    synchronized int count() {
        return count;
    }

    /** Those from one count to another, µs, in order of size. */
    synchronized double[] between(int from, int to) {
        return Arrays.stream(units, from, to)
                .sorted()
                .mapToDouble(u -> (double) u * UNIT_NANOS / 1e3)
                .toArray();
    }

    /** The smallest that so many percent do not exceed; 0 of none. */
    static double percentile(double[] sorted, double percent) {
        return sorted.length == 0
                ? 0
                : sorted[Math.max(0, (int) Math.ceil(sorted.length * percent / 100) - 1)];
    }
}
