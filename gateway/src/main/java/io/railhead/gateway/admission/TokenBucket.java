package io.railhead.gateway.admission;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * A token bucket that holds the tokens of one second. It may go into debt: whoever comes while it
 * holds any token takes all that is wanted, and later ones wait until the debt is paid. Any thread;
 * one compare-and-set for each take, no lock and no allocation.
 *
 * <p> The state is one number: the time at which the bucket will be full again (the generic cell
 * rate algorithm). So nothing refills it, and an idle bucket costs nothing.
 */
final class TokenBucket {
    private static final long SECOND_NANOS = 1_000_000_000;
    /** Bounds a debt, so that no sum of debts can overflow. */
    private static final long LONGEST_DEBT_NANOS = 24 * 3600 * SECOND_NANOS;

    private final LongSupplier nanoClock;
    private final long perSecond;
    private final AtomicLong fullAtNanos;

    TokenBucket(long perSecond, LongSupplier nanoClock) {
        if (perSecond <= 0) {
            throw new IllegalArgumentException("perSecond must be > 0: " + perSecond);
        }
        this.perSecond = perSecond;
        this.nanoClock = nanoClock;
        this.fullAtNanos = new AtomicLong(nanoClock.getAsLong());
    }

    /** Takes one token; returns whether there was one. */
    boolean tryTake() {
        long cost = cost(1);
        while (true) {
            long now = nanoClock.getAsLong();
            long before = fullAtNanos.get();
            long wait = Math.max(0, before - now);
            if (wait >= SECOND_NANOS) {
                return false;
            }
            if (fullAtNanos.compareAndSet(before, now + wait + cost)) {
                return true;
            }
        }
    }

    /** Takes tokens that are used already, into debt if need be. */
    void charge(long tokens) {
        long cost = cost(tokens);
        while (true) {
            long now = nanoClock.getAsLong();
            long before = fullAtNanos.get();
            long wait = Math.max(0, before - now);
            if (fullAtNanos.compareAndSet(before,
                    now + Math.min(LONGEST_DEBT_NANOS, wait + cost))) {
                return;
            }
        }
    }

    /** Returns whether there is any token. */
    boolean hasTokens() {
        return fullAtNanos.get() - nanoClock.getAsLong() < SECOND_NANOS;
    }

    /** Returns whether the bucket is full, so that a new one is as good. */
    boolean isFull() {
        return fullAtNanos.get() - nanoClock.getAsLong() <= 0;
    }

    /** Returns the time until there is a token, in whole seconds, and at least one. */
    long retrySeconds() {
        long wait = fullAtNanos.get() - nanoClock.getAsLong() - SECOND_NANOS;
        return Math.max(1, Math.ceilDiv(wait, SECOND_NANOS));
    }

    /** Rounded up: otherwise the rounded part of each token would be given away. */
    private long cost(long tokens) {
        return (long) Math.min(LONGEST_DEBT_NANOS,
                Math.ceil((double) tokens * SECOND_NANOS / perSecond));
    }
}
