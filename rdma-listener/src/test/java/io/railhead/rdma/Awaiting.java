package io.railhead.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.rdma.TransferException.Reason;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Waits, with a deadline that only a hang reaches. */
public final class Awaiting {
    private static final long DEADLINE_SECONDS = 60;

    private Awaiting() {}

    public static void until(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_SECONDS);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - deadline).as(what).isNegative();
            LockSupport.parkNanos(100_000);
        }
    }

    public static <T> T result(CompletionStage<T> stage) {
        try {
            return stage.toCompletableFuture().get(DEADLINE_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new AssertionError("the stage failed", e.getCause());
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError("the stage did not end", e);
        }
    }

    /** How the stage ended: null if well. */
    public static @Nullable Reason failure(CompletionStage<?> stage) {
        try {
            var _ = stage.toCompletableFuture().get(DEADLINE_SECONDS, TimeUnit.SECONDS);
            return null;
        } catch (ExecutionException e) {
            assertThat(e.getCause()).isInstanceOf(TransferException.class);
            return ((TransferException) e.getCause()).reason();
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError("the stage did not end", e);
        }
    }
}
