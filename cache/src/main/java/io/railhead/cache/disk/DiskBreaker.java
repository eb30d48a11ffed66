package io.railhead.cache.disk;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * A stop for the reads or the writes of a disk that fails or hangs. It opens after some failures in
 * a row, or at once when a call hangs. While it is open, one probe may go to the disk after each
 * pause, which doubles each time. A success closes it, that of a call which hung for long too. Any
 * thread.
 */
final class DiskBreaker {
    private static final int FAILURES = 3;
    private static final long FIRST_PAUSE = Duration.ofSeconds(1).toNanos();
    private static final long LONGEST_PAUSE = Duration.ofSeconds(60).toNanos();

    /** A change that is worth a line in the log. */
    enum Change {
        NONE,
        OPENED,
        CLOSED
    }

    private final LongSupplier nanoClock;
    private int failures;
    private boolean open;
    private long pause = FIRST_PAUSE;
    private long nextTry;

    DiskBreaker(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    synchronized boolean isOpen() {
        return open;
    }

    /** Returns whether it is time for a probe; then not again before the next pause is over. */
    synchronized boolean tryProbe() {
        long now = nanoClock.getAsLong();
        if (!open || now - nextTry < 0) {
            return false;
        }
        pause = Math.min(LONGEST_PAUSE, 2 * pause);
        nextTry = now + pause;
        return true;
    }

    synchronized Change succeeded() {
        failures = 0;
        if (!open) {
            return Change.NONE;
        }
        open = false;
        pause = FIRST_PAUSE;
        return Change.CLOSED;
    }

    synchronized Change failed() {
        failures++;
        return failures >= FAILURES || open ? open() : Change.NONE;
    }

    synchronized Change hung() {
        return open();
    }

    private Change open() {
        if (open) {
            return Change.NONE;
        }
        open = true;
        nextTry = nanoClock.getAsLong() + pause;
        return Change.OPENED;
    }
}
