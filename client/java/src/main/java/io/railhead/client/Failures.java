package io.railhead.client;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketTimeoutException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** What futures failed with, as callers that block know it. */
final class Failures {
    private Failures() {}

    static Throwable unwrap(Throwable failure) {
        return (failure instanceof CompletionException || failure instanceof ExecutionException)
                && failure.getCause() != null ? failure.getCause() : failure;
    }

    /** Waits on, even if interrupted: the future's memory is not the caller's before. */
    static <T> T join(CompletableFuture<T> future) throws IOException {
        try {
            return future.join();
        } catch (CompletionException e) {
            throw asIo(unwrap(e));
        }
    }

    /** A timeout is none. */
    static boolean isInterruption(IOException failure) {
        return failure instanceof InterruptedIOException
                && !(failure instanceof SocketTimeoutException);
    }

    static IOException asIo(Throwable failure) {
        return switch (failure) {
            case IOException e -> e;
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            default -> new IOException(failure);
        };
    }
}
