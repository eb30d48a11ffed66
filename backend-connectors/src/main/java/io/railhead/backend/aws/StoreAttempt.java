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
 * One attempt at one endpoint, from the request to the last byte of its answer. The client calls
 * the handler's methods on the connection's event loop, one at a time, and every failure of a body
 * comes by that way too, so that its subscriber hears one signal at a time.
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

    /** The answer's head; its body is still to come. */
    CompletableFuture<BackendResponse> answer() {
        return answer;
    }

    /** Completes, never exceptionally, when the connection is free or gone. */
    CompletableFuture<@Nullable Void> finished() {
        return finished;
    }

    /** How far the client has come with the request's body. */
    private enum Asked {
        NOT_YET,
        ONCE,
        NEVER
    }

    /** The same body, whose being asked for shows that there is a connection. */
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
     * Returns whether this exchange waits for a connection while others hold the whole pool. The
     * HTTP client subscribes to a request's body, even an empty one, once it has a connection.
     */
    boolean lacksOneOf(int connections) {
        return asked.get() != Asked.ONCE && storeEndpoint.connected() >= connections;
    }

    /**
     * Keeps the body for another attempt, if nobody has asked for it. If true, nobody will, so no
     * store can have more of the request than its head.
     */
    boolean withdrawBody() {
        return asked.compareAndSet(Asked.NOT_YET, Asked.NEVER);
    }

    /**
     * Gives up if there is no connection by then. The client's pool can lose a request for one when
     * the first connection to an address is refused, and would let it wait for ever.
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

    /** Closes the connection, whatever is happening on it. Any thread. */
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
     * A failure of the request's, or of the connection's. Behind an answer's head neither matters:
     * the body tells its own failures, and may be there already when its connection breaks.
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

    /** The connection is free or gone. */
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
