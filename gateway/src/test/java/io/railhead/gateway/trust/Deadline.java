package io.railhead.gateway.trust;

import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/** By when something is done: also where it is looked at once only, and succeeds. */
public final class Deadline {
    private final LongSupplier nanoClock;
    private final long begunNanos;
    private final Duration bound;

    /** From now on. */
    public Deadline(Duration bound, LongSupplier nanoClock) {
        this.bound = bound;
        this.nanoClock = nanoClock;
        this.begunNanos = nanoClock.getAsLong();
    }

    public boolean isOver() {
        return nanoClock.getAsLong() - begunNanos > bound.toNanos();
    }

    /** Whether it becomes true by then. */
    public boolean isMetBy(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            if (isOver()) {
                return false;
            }
            Thread.onSpinWait();
        }
        return !isOver();
    }
}
