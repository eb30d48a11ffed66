package io.railhead.backend.aws;

import io.railhead.backend.BackendException;
import io.railhead.backend.BackendException.Reason;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.Headers;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.http.async.SdkAsyncHttpResponseHandler;
import software.amazon.awssdk.http.async.SdkHttpContentPublisher;

/**
 * One attempt at one endpoint, from the request to the last byte of its response. The HTTP client
 * calls the handler's methods on the connection's event loop, one at a time. Every failure of a
 * body takes that path too, so that its subscriber gets one signal at a time.
 */
final class StoreAttempt implements SdkAsyncHttpResponseHandler, ConnectionPool.Abortable {
    private final String method;
    private final StoreEndpoint storeEndpoint;
    private final Duration idleTimeout;
    private final ConnectionPool connectionPool;
    private final Counters counters;
    private final CompletableFuture<BackendResponse> answer = new CompletableFuture<>();
    private final CompletableFuture<@Nullable Void> finished = new CompletableFuture<>();
    private final AtomicReference<@Nullable BackendException> aborted = new AtomicReference<>();
    private volatile @Nullable CompletableFuture<Void> execution;
    private volatile @Nullable StreamBody requestBody;
    private final AtomicReference<Asked> asked = new AtomicReference<>(Asked.NOT_YET);
    private @Nullable SdkHttpResponse head;
    private @Nullable ResponseBody responseBody;

    StoreAttempt(String method, StoreEndpoint storeEndpoint, Duration idleTimeout,
            ConnectionPool connectionPool,
            Counters counters) {
        this.method = method;
        this.storeEndpoint = storeEndpoint;
        this.idleTimeout = idleTimeout;
        this.connectionPool = connectionPool;
        this.counters = counters;
    }

    /** Completes with the response's head; its body is still to come. */
    CompletableFuture<BackendResponse> answer() {
        return answer;
    }

    /** Completes, never exceptionally, when the connection is free or closed. */
    CompletableFuture<@Nullable Void> finished() {
        return finished;
    }

    /** The client's use of the request's body so far. */
    private enum Asked {
        NOT_YET,
        ONCE,
        NEVER
    }

    /**
     * Returns the same body, and notes when it is requested, which shows that there is a
     * connection.
     */
    SdkHttpContentPublisher noticing(SdkHttpContentPublisher body) {
        return new SdkHttpContentPublisher() {
            @Override
            public Optional<Long> contentLength() {
                return body.contentLength();
            }

            @Override
            public void subscribe(Subscriber<? super ByteBuffer> subscriber) {
                if (asked.compareAndSet(Asked.NOT_YET, Asked.ONCE)) {
                    storeEndpoint.connect();
                    var _ = finished.thenRun(storeEndpoint::disconnect);
                    body.subscribe(subscriber);
                } else if (asked.get() == Asked.ONCE) {
                    body.subscribe(subscriber);
                } else {
                    FailedBody.subscribe(subscriber, HttpFailures.late("request was given up"));
                }
            }
        };
    }

    /**
     * Returns whether this attempt waits for a connection while others use the whole pool. The HTTP
     * client subscribes to a request's body, even an empty one, once it has a connection.
     */
    boolean lacksOneOf(int connections) {
        return asked.get() != Asked.ONCE && storeEndpoint.connected() >= connections;
    }

    /**
     * Keeps the body for another attempt if it was not requested. If true, it never will be, so no
     * store can have more of the request than its head.
     */
    boolean withdrawBody() {
        return asked.compareAndSet(Asked.NOT_YET, Asked.NEVER);
    }

    /**
     * Aborts if there is no connection within this time. The client's pool can lose a waiting
     * request when the first connection to an address is refused.
     */
    void watchConnecting(Duration patience) {
        var watch = connectionPool.timer().schedule(() -> {
            if (asked.get() == Asked.NOT_YET) {
                abort(HttpFailures.late("no connection in time"));
            }
        }, patience.toNanos(), TimeUnit.NANOSECONDS);
        var _ = finished.thenRun(() -> watch.cancel(false));
    }

    void start(RequestEncoder.Message message) {
        requestBody = message.stream();
        connectionPool.began(this);
        try {
            execution = connectionPool.execute(message, this);
        } catch (RuntimeException | Error e) {
            onError(e);
        }
        BackendException cause = aborted.get();
        if (cause != null) {
            cut(cause);
        }
    }

    /** Closes the connection, whatever its state. Any thread. */
    @Override
    public void abort(BackendException cause) {
        if (aborted.compareAndSet(null, cause)) {
            cut(cause);
        }
    }

    private void cut(BackendException cause) {
        StreamBody sending = requestBody;
        if (sending != null) {
            sending.abort(cause);
        }
        CompletableFuture<Void> running = execution;
        if (running != null) {
            running.completeExceptionally(cause);
        }
        if (answer.completeExceptionally(cause)) {
            end();
        }
    }

    @Override
    public void onHeaders(SdkHttpResponse response) {
        head = response;
    }

    @Override
    public void onStream(Publisher<ByteBuffer> stream) {
        SdkHttpResponse response = head;
        if (response == null) {
            onError(new IllegalStateException("body before headers"));
            return;
        }
        if (isWithoutBody(response)) {
            BodyDrain.discard(stream);
            answer.complete(answer(response, FixedContent.NONE));
            end();
            return;
        }
        if (response.isSuccessful() && contentLength(response) < 0 && !isChunked(response)) {
            abort(new BackendException(Reason.MALFORMED,
                    "answer does not say how long it is", null));
            return;
        }
        ResponseBody body = new ResponseBody(stream, contentLength(response), this, connectionPool,
                idleTimeout, counters);
        responseBody = body;
        if (!answer.complete(answer(response, body))) {
            BodyDrain.discard(body);
        }
    }

    /**
     * Handles a failure of the request or the connection. After the response's head it does not
     * matter: the body reports its own failures, and may already be complete.
     */
    @Override
    public void onError(Throwable cause) {
        BackendException failure = translate(cause);
        ResponseBody body = responseBody;
        if (body != null) {
            if (aborted.get() != null) {
                body.fail(failure);
            }
        } else {
            answer.completeExceptionally(failure);
            end();
        }
    }

    /** Ends the attempt, whose connection is free or closed. */
    void end() {
        connectionPool.ended(this);
        finished.complete(null);
    }

    BackendException translate(Throwable cause) {
        BackendException own = aborted.get();
        if (own != null) {
            return own;
        }
        return HttpFailures.translate(cause);
    }

    private boolean isWithoutBody(SdkHttpResponse response) {
        int status = response.statusCode();
        return method.equals("HEAD") || status == 204 || status == 304
                || contentLength(response) == 0;
    }

    private static boolean isChunked(SdkHttpResponse response) {
        return response.firstMatchingHeader("Transfer-Encoding")
                .orElse("")
                .toLowerCase(Locale.ROOT)
                .endsWith("chunked");
    }

    private static long contentLength(SdkHttpResponse response) {
        String value = response.firstMatchingHeader("Content-Length").orElse("-1");
        try {
            return Long.parseLong(value);
        } catch (NumberFormatException _) {
            return -1;
        }
    }

    private static BackendResponse answer(SdkHttpResponse response, Publisher<ByteBuffer> body) {
        Headers.Builder headers = Headers.builder();
        response.forEachHeader(
                (name, values) -> values.forEach(value -> headers.add(name, value)));
        return new BackendResponse(response.statusCode(), headers.build(), body);
    }
}
