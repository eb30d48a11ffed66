package io.railhead.cache;

import java.util.concurrent.atomic.AtomicLong;

/** A limit of one log line a second, since a repeated failure would fill the log. Any thread. */
final class LinePace {
    private static final long BETWEEN_NANOS = 1_000_000_000;

    private final AtomicLong lastNanos = new AtomicLong(System.nanoTime() - BETWEEN_NANOS);

    /** Returns whether a line may be written now. */
    boolean mayWrite() {
        long last = lastNanos.get();
        long now = System.nanoTime();
        return now - last >= BETWEEN_NANOS && lastNanos.compareAndSet(last, now);
    }
}
