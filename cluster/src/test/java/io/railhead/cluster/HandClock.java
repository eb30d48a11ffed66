package io.railhead.cluster;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** A monotonic clock that a test moves. */
final class HandClock implements LongSupplier {
    /** Monotonic clocks begin anywhere, and overflow. */
    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 1_000_000);

    @Override
    public long getAsLong() {
        return now.get();
    }

    void pass(Duration time) {
        now.addAndGet(time.toNanos());
    }
}
