package io.railhead.cache;

import io.railhead.cache.memory.PageMemory;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;

/**
 * One reader's wait for memory. The reader is woken when memory was freed, and at intervals, until
 * the wait is over. Confined to the reader's executor, except for the waking.
 */
final class MemoryWait {
    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    /** The parts that all waits share. */
    record Clock(LongSupplier nanos, ScheduledExecutorService timer, long waitNanos) {}

    private final Clock clock;
    private final Runnable wake;
    private final AtomicBoolean registered = new AtomicBoolean();
    private boolean waiting;
    private boolean over;
    private long sinceNanos;

    MemoryWait(Clock clock, Runnable wake) {
        this.clock = clock;
        this.wake = wake;
    }

    /** Checks whether the reader has waited long enough; the first check starts the wait. */
    boolean look() {
        long now = clock.nanos().getAsLong();
        if (!waiting) {
            waiting = true;
            sinceNanos = now;
        }
        over = now - sinceNanos >= clock.waitNanos();
        return over;
    }

    /** Returns the result of the last check, unchanged until the reader has acted on it. */
    boolean isOver() {
        return over;
    }

    void end() {
        waiting = false;
        over = false;
    }

    void await(PageMemory memory) {
        if (registered.compareAndSet(false, true)) {
            memory.whenFreed(() -> {
                registered.set(false);
                wake.run();
            });
        }
        try {
            Future<?> _ = clock.timer()
                    .schedule(wake, Math.min(RETRY_NANOS, clock.waitNanos()),
                            TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException closed) {
            // The cache is closed: no time is left to wait.
            sinceNanos = clock.nanos().getAsLong() - clock.waitNanos();
            wake.run();
        }
    }
}
