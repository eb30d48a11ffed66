package io.railhead.benchmarks.misses;

/**
 * A token bucket that all connections of one direction share, in order of arrival. Time missed by a
 * thread that wakes late is made up for a short while. Any thread.
 */
final class TokenBucket {
    private static final long MADE_UP_NANOS = 4_000_000;

    private final double nanosPerByte;
    private long freeAtNanos;

    TokenBucket(long bitsPerSecond, long nowNanos) {
        nanosPerByte = 8e9 / bitsPerSecond;
        freeAtNanos = nowNanos;
    }

    /** Returns when so many bytes may pass, on the clock of {@link System#nanoTime}. */
    synchronized long take(int bytes, long nowNanos) {
        if (freeAtNanos - (nowNanos - MADE_UP_NANOS) < 0) {
            freeAtNanos = nowNanos - MADE_UP_NANOS;
        }
        freeAtNanos += Math.round(bytes * nanosPerByte);
        return freeAtNanos;
    }
}
