package io.railhead.cache.disk;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * The bytes that may be written, since flash endures only so many. They come evenly over the day
 * and are kept for an hour at most. Any thread.
 *
 * <p> Tenants that write share them evenly. Whoever has spent more than its share lately may not
 * touch the lower half of what is saved, so that a flood of one leaves others theirs. A tenant
 * alone has all of it.
 */
final class WriteBudget {
    private static final long DAY = Duration.ofDays(1).toNanos();
    private static final long HOUR = Duration.ofHours(1).toNanos();
    private static final long KEPT_PART = DAY / HOUR;
    /** The part of the savings that is for tenants below their share. */
    private static final double RESERVED_PART = 0.5;

    private final long bytesPerDay;
    private final LongSupplier nanoClock;
    private final Map<String, Spender> spenders = new HashMap<>();
    private double saved;
    /** The bytes that all tenants have spent lately. */
    private double spent;
    private long at;

    /** A tenant that has asked within the hour. */
    private static final class Spender {
        private double spent;
        private long askedAt;
    }

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
    synchronized boolean trySpend(String tenant, long bytes, double chance) {
        if (bytesPerDay == 0) {
            return true;
        }
        long now = nanoClock.getAsLong();
        saved = Math.min(most(), saved + (double) bytesPerDay * (now - at) / DAY);
        at = now;
        Spender spender = spender(tenant, now);
        double reserved = spender.spent * spenders.size() > spent ? RESERVED_PART * most() : 0;
        if (saved - reserved < bytes || chance * (most() - reserved) >= saved - reserved) {
            return false;
        }
        saved -= bytes;
        spender.spent += bytes;
        spent += bytes;
        if (spent > most()) {
            age();
        }
        return true;
    }

    private Spender spender(String tenant, long now) {
        Spender known = spenders.get(tenant);
        if (known == null) {
            spenders.values().removeIf(each -> now - each.askedAt > HOUR);
            known = new Spender();
            spenders.put(tenant, known);
        }
        known.askedAt = now;
        return known;
    }

    /** Halves what was spent: so the last hours count, and the older ones less and less. */
    private void age() {
        spenders.values().removeIf(each -> at - each.askedAt > HOUR);
        spent = 0;
        for (Spender each : spenders.values()) {
            each.spent /= 2;
            spent += each.spent;
        }
    }
}
