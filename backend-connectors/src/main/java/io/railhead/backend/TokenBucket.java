package io.railhead.backend;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * A token bucket that holds the tokens of one second. It may go into debt: what is charged is taken
 * whether it is there or not, and nothing more is let through until the debt is paid. Any thread;
 * one compare-and-set for each take, no lock and no allocation.
 *
 * <p> The state is one number: the time at which the bucket will be full again (the generic cell
 * rate algorithm). So nothing refills it, and an idle bucket costs nothing. A token is a whole
 * number of nanoseconds: rates near a million a second are up to a thousandth too high.
 */
public final class TokenBucket {
    private static final long SECOND_NANOS = 1_000_000_000;
    /** Bounds a debt, so that no sum of debts can overflow. */
    private static final long LONGEST_DEBT_NANOS = 24 * 3600 * SECOND_NANOS;

    private final LongSupplier nanoClock;
    private final long perSecond;
    private final long tokenNanos;
    private final AtomicLong fullAtNanos;

    public TokenBucket(long perSecond, LongSupplier nanoClock) {
        if (perSecond <= 0) {
            throw new IllegalArgumentException("perSecond must be > 0: " + perSecond);
        }
        this.perSecond = perSecond;
        this.tokenNanos = Math.max(1, SECOND_NANOS / perSecond);
        this.nanoClock = nanoClock;
        this.fullAtNanos = new AtomicLong(nanoClock.getAsLong());
    }

    /** Takes one token; returns whether there was one. */
    public boolean tryTake() {
        while (true) {
            long now = nanoClock.getAsLong();
            long before = fullAtNanos.get();
            long after = Math.max(before, now) + tokenNanos;
            if (after - now > SECOND_NANOS) {
                return false;
            }
            if (fullAtNanos.compareAndSet(before, after)) {
                return true;
            }
        }
    }

    /** Takes tokens that are used already, into debt if need be. */
    public void charge(long tokens) {
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

    /** Gives tokens back that were charged and are not used after all. */
    public void giveBack(long tokens) {
        fullAtNanos.addAndGet(-cost(tokens));
    }

    /** Returns whether there is any token. */
    public boolean hasTokens() {
        return waitNanos() <= 0;
    }

    /** Returns the time until there is a token; at most 0 if there is one now. */
    public long waitNanos() {
        return fullAtNanos.get() - nanoClock.getAsLong() + tokenNanos - SECOND_NANOS;
    }

    /** Returns whether the bucket is full, so that a new one is as good. */
    public boolean isFull() {
        return fullAtNanos.get() - nanoClock.getAsLong() <= 0;
    }

    /** Returns the time until there is a token, in whole seconds, and at least one. */
    public long retrySeconds() {
        return Math.max(1, Math.ceilDiv(waitNanos(), SECOND_NANOS));
    }

    private long cost(long tokens) {
        return tokens == 1
                ? tokenNanos
                : (long) Math.min(LONGEST_DEBT_NANOS,
                        (double) tokens * SECOND_NANOS / perSecond);
    }
}
