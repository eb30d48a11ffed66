package io.railhead.gateway.admin;

import java.util.function.LongSupplier;

/** A rate limiter that delays: callers above the rate wait for their turn. Any thread. */
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

    /** Counts so many bytes, and returns how long to wait before they may be requested. */
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
