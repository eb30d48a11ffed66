package io.railhead.client;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for a condition, for at most half a minute. */
public final class Awaiting {
    private static final long POLL_NANOS = Duration.ofMillis(1).toNanos();
    private static final long MOST_NANOS = Duration.ofSeconds(30).toNanos();

    private Awaiting() {}

    public static void until(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + MOST_NANOS;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError(what + ": not in half a minute");
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
    }
}
