package io.railhead.backend.aws;

import io.railhead.backend.BackendConfig;

/**
 * Limits the fetches under way to one store. The limit grows by one after each round that used all
 * of it. It is halved when the store says that it is overloaded. It also falls when even the
 * fastest response of a round was far slower than the store can be. A round is as many answers as
 * may be under way. Guarded by {@link FetchGate}.
 */
final class FetchLimit {
    private static final int FIRST = 32;
    private static final double WHEN_REFUSED = 0.5;
    private static final double WHEN_SLOW = 0.8;
    private static final int SLOW = 4;
    /** Below this time no response counts as slow, whatever the fastest one took. */
    private static final long SLOW_NANOS = 20_000_000;
    /** Growth of the best time, so that it adapts to a store that has become slower. */
    private static final double FORGETTING = 1.01;

    private final int least;
    private final int most;
    private int limit;
    private long bestNanos = Long.MAX_VALUE;
    private int answersLeft;
    private int spared;
    private long fastestNanos;
    private boolean used;

    FetchLimit(BackendConfig.Fetches bounds) {
        least = bounds.least();
        most = bounds.most();
        limit = Math.clamp(FIRST, least, most);
        begin();
    }

    int now() {
        return limit;
    }

    private void begin() {
        answersLeft = limit;
        fastestNanos = Long.MAX_VALUE;
        used = false;
    }

    /**
     * @param nanos until the response's head
     * @param isFull whether the limit was reached
     */
    void answered(long nanos, boolean isFull) {
        if (spared > 0) {
            spared--;
            return;
        }
        fastestNanos = Math.min(fastestNanos, nanos);
        used |= isFull;
        if (--answersLeft <= 0) {
            judge();
            begin();
        }
    }

    private void judge() {
        if (bestNanos < Long.MAX_VALUE && fastestNanos > SLOW_NANOS
                && fastestNanos / SLOW > bestNanos) {
            limit = Math.max(least, (int) (limit * WHEN_SLOW));
        } else if (used) {
            limit = Math.min(most, limit + 1);
        }
        bestNanos = bestNanos == Long.MAX_VALUE
                ? fastestNanos
                : Math.min(fastestNanos, (long) Math.ceil(bestNanos * FORGETTING));
    }

    /**
     * Notes that the store refused for now, or did not respond in time.
     *
     * @param underWay fetches that were sent before: their outcome is no further evidence
     */
    void refused(int underWay) {
        if (spared > 0) {
            spared--;
            return;
        }
        limit = Math.max(least, (int) (limit * WHEN_REFUSED));
        spared = underWay;
        begin();
    }
}
