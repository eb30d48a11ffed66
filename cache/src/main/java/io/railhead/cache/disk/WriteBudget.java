package io.railhead.cache.disk;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * The bytes that may be written, since flash endures only so many. They come evenly over the day
 * and are kept for an hour at most. Any thread.
 */
final class WriteBudget {
    private static final long DAY = Duration.ofDays(1).toNanos();
    private static final long KEPT_PART = 24;

    private final long bytesPerDay;
    private final LongSupplier nanoClock;
    private double saved;
    private long at;

    /** @param bytesPerDay 0 for no limit */
    WriteBudget(long bytesPerDay, LongSupplier nanoClock) {
        this.bytesPerDay = bytesPerDay;
        this.nanoClock = nanoClock;
        this.saved = most();
        this.at = nanoClock.getAsLong();
    }

    private double most() {
        return (double) bytesPerDay / KEPT_PART;
    }

    /**
     * Takes bytes with a probability that is the part of the savings left. So writes are spread,
     * and candidates are chosen at random, at whatever rate they come.
     *
     * @param chance a random number from 0 to 1
     */
    synchronized boolean trySpend(long bytes, double chance) {
        if (bytesPerDay == 0) {
            return true;
        }
        long now = nanoClock.getAsLong();
        saved = Math.min(most(), saved + (double) bytesPerDay * (now - at) / DAY);
        at = now;
        if (saved < bytes || chance * most() >= saved) {
            return false;
        }
        saved -= bytes;
        return true;
    }
}
