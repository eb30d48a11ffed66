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
 * Of the thread that starts and stops.
 */
final class ShutdownStack {
    /** What one step of starting or stopping may take. */
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

    /** Whatever happens to one, all are; their failures are suppressed in the given one. */
    void stop(Throwable suppressing) {
        while (!parts.isEmpty()) {
            try {
                parts.pop().close();
            } catch (Exception | Error e) {
                suppressing.addSuppressed(e);
            }
        }
    }

    /** A port that cannot be had is a setting's fault: the message names it. */
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

    /** What is to happen on other threads has happened, or has had its time. */
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
            // Futures throw what they failed with, checked or not.
            throw new IllegalStateException(e.getMessage(), e);
        }
    }
}
