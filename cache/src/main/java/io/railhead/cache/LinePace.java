package io.railhead.cache;

import java.util.concurrent.atomic.AtomicLong;

/** One line a second at most: what fails again and again would fill the log. Any thread. */
final class LinePace {
    private static final long BETWEEN_NANOS = 1_000_000_000;

    private final AtomicLong lastNanos = new AtomicLong(System.nanoTime() - BETWEEN_NANOS);

    /** Whether to write one now. */
    boolean mayWrite() {
        long last = lastNanos.get();
        long now = System.nanoTime();
        return now - last >= BETWEEN_NANOS && lastNanos.compareAndSet(last, now);
    }
}
