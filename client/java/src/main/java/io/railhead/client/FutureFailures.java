package io.railhead.client;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLPeerUnverifiedException;

/** Translates the failures of futures for callers that block. */
final class FutureFailures {
    private FutureFailures() {}

    static Throwable unwrap(Throwable failure) {
        return (failure instanceof CompletionException || failure instanceof ExecutionException)
                && failure.getCause() != null ? failure.getCause() : failure;
    }

    /** Waits, even if interrupted: the future's memory is not the caller's before its end. */
    static <T> T join(CompletableFuture<T> future) throws IOException {
        try {
            return future.join();
        } catch (CompletionException e) {
            throw asIo(unwrap(e));
        }
    }

    /** Returns the same failure with the endpoint's name, for requests without a response. */
    static IOException named(URI endpoint, IOException failure) {
        String message = endpoint + ": " + failure.getMessage();
        IOException named = switch (failure) {
            case ConnectException _ -> new ConnectException(message);
            case NoRouteToHostException _ -> new NoRouteToHostException(message);
            case UnknownHostException _ -> new UnknownHostException(message);
            case SocketTimeoutException _ -> new SocketTimeoutException(message);
            case SSLHandshakeException _ -> new SSLHandshakeException(message);
            case SSLPeerUnverifiedException _ -> new SSLPeerUnverifiedException(message);
            default -> failure;
        };
        return named.equals(failure) ? failure : (IOException) named.initCause(failure);
    }

    /** Returns whether the failure is an interruption; a timeout is none. */
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
