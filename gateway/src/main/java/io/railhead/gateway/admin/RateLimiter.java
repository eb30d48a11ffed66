package io.railhead.gateway.admin;

import java.util.function.LongSupplier;

/** A rate that is kept by waiting: what exceeds it waits for its turn. Any thread. */
final class RateLimiter {
    private final LongSupplier nanoClock;
    private final long bytesPerSecond;
    private long freeAtNanos;

    /** @param bytesPerSecond 0 for no limit */
    RateLimiter(long bytesPerSecond, LongSupplier nanoClock) {
        this.bytesPerSecond = bytesPerSecond;
        this.nanoClock = nanoClock;
        this.freeAtNanos = nanoClock.getAsLong();
    }

    /** How long to wait before so many bytes may be asked for; they are counted by this call. */
    synchronized long delayNanos(long bytes) {
        if (bytesPerSecond == 0) {
            return 0;
        }
        long now = nanoClock.getAsLong();
        if (freeAtNanos - now < 0) {
            freeAtNanos = now;
        }
        long delay = freeAtNanos - now;
        freeAtNanos += (long) (bytes * 1e9 / bytesPerSecond);
        return delay;
    }
}
