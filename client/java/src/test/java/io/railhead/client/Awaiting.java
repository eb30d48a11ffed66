package io.railhead.client;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for a condition, for at most half a minute. */
final class Awaiting {
    private static final long POLL_NANOS = Duration.ofMillis(1).toNanos();
    private static final long MOST_NANOS = Duration.ofSeconds(30).toNanos();

    private Awaiting() {}

    static void until(BooleanSupplier condition) {
        long deadline = System.nanoTime() + MOST_NANOS;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("it did not happen in half a minute");
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
    }
}
