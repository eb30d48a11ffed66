package io.railhead.gateway;

import io.railhead.gateway.config.ListenAddress;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

/**
 * The started parts of a gateway, stopped in the reverse order, and the longest wait for each step.
 * For the thread that starts and stops.
 */
final class ShutdownStack {
    /** The time limit of each step of starting or stopping. */
    static final Duration STEP = Duration.ofSeconds(30);

    private static final long LOOK_MILLIS = 5;

    private final Deque<AutoCloseable> parts = new ArrayDeque<>();

    void push(AutoCloseable end) {
        parts.push(end);
    }

    <T extends AutoCloseable> T opened(T part) {
        parts.push(part);
        return part;
    }

    /** Stops all parts, whatever happens in one; failures are suppressed in the given one. */
    void stop(Throwable suppressing) {
        while (!parts.isEmpty()) {
            try {
                parts.pop().close();
            } catch (Exception | Error e) {
                suppressing.addSuppressed(e);
            }
        }
    }

    /** Waits for a listener; a port that cannot be bound is reported with its setting's name. */
    static <T> T bound(String key, ListenAddress address, Future<T> listening) {
        try {
            return await(listening);
        } catch (RuntimeException | Error e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new IllegalArgumentException(
                    key + ": cannot listen on " + address.host() + ":" + address.port() + ": "
                            + cause.getMessage(),
                    e);
        }
    }

    /** Waits until other threads are done, at most for a step's time. */
    static void until(BooleanSupplier isDone) throws InterruptedException {
        long begun = System.nanoTime();
        while (!isDone.getAsBoolean() && System.nanoTime() - begun < STEP.toNanos()) {
            Thread.sleep(LOOK_MILLIS);
        }
    }

    static <T> T await(Future<T> future) {
        return await(future, STEP);
    }

    static <T> T await(Future<T> future, Duration atMost) {
        try {
            return future.await(atMost.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw new IllegalStateException(
                    "a step of starting or stopping took more than " + atMost, e);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Exception e) {
            // Futures rethrow their cause, which may be a checked exception.
            throw new IllegalStateException(e.getMessage(), e);
        }
    }
}
