package io.railhead.backend.aws;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpUtil;
import io.railhead.backend.BackendException;
import io.railhead.backend.BackendException.Reason;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.Body;
import io.railhead.backend.FixedBody;
import io.railhead.backend.Headers;
import io.railhead.backend.http.StoreConnection;
import io.railhead.backend.http.StoreExchange;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;

/**
 * One attempt at one endpoint, from the request to the last byte of its response. The connection
 * calls on its event loop, one call at a time; aborting and withdrawing are for any thread.
 */
final class StoreAttempt implements StoreExchange, ConnectionPool.Abortable {
    private final RequestEncoder.Message message;
    private final StoreEndpoint storeEndpoint;
    private final Duration idleTimeout;
    private final ConnectionPool connectionPool;
    private final Counters counters;
    private final CompletableFuture<BackendResponse> answer = new CompletableFuture<>();
    private final CompletableFuture<@Nullable Void> finished = new CompletableFuture<>();
    private final AtomicReference<@Nullable BackendException> aborted = new AtomicReference<>();
    private final AtomicReference<Sent> sent = new AtomicReference<>(Sent.NOTHING);
    private volatile @Nullable StoreConnection connection;
    private @Nullable ResponseBody responseBody;
    /** A response that is complete with its head, until the connection is free. */
    private @Nullable BackendResponse bodyless;

    StoreAttempt(RequestEncoder.Message message, StoreEndpoint storeEndpoint, Duration idleTimeout,
            ConnectionPool connectionPool, Counters counters) {
        this.message = message;
        this.storeEndpoint = storeEndpoint;
        this.idleTimeout = idleTimeout;
        this.connectionPool = connectionPool;
        this.counters = counters;
    }

    /** The part of the request that was sent: with a body, a store acts on the body only. */
    private enum Sent {
        NOTHING,
        SOME,
        NOTHING_EVER
    }

    /** Completes with the response's head; its body is still to come. */
    CompletableFuture<BackendResponse> answer() {
        return answer;
    }

    /** Completes, never exceptionally, when the connection is free or closed. */
    CompletableFuture<@Nullable Void> finished() {
        return finished;
    }

    /** Returns whether this attempt waits for a connection while others use the whole pool. */
    boolean lacksOneOf(int connections) {
        return connection == null && storeEndpoint.connected() >= connections;
    }

    /**
     * Keeps the body for another attempt if it was not requested. If true, it never will be, so no
     * store can have more of the request than its head.
     */
    boolean withdrawBody() {
        return sent.compareAndSet(Sent.NOTHING, Sent.NOTHING_EVER);
    }

    /** Aborts if nothing that a store acts on could be sent within this time. */
    void watchConnecting(Duration patience) {
        var watch = connectionPool.timer().schedule(() -> {
            if (sent.get() == Sent.NOTHING) {
                abort(HttpFailures.late("no connection in time"));
            }
        }, patience.toNanos(), TimeUnit.NANOSECONDS);
        var _ = finished.thenRun(() -> watch.cancel(false));
    }

    void start() {
        connectionPool.began(this);
        try {
            connectionPool.send(storeEndpoint.uri(), this);
        } catch (RuntimeException | Error e) {
            failed(e);
        }
    }

    /** Closes the connection, whatever its state. Any thread. */
    @Override
    public void abort(BackendException cause) {
        if (!aborted.compareAndSet(null, cause)) {
            return;
        }
        StreamBody sending = message.stream();
        if (sending != null) {
            sending.abort(cause);
        }
        StoreConnection used = connection;
        if (used != null) {
            used.abort(this, cause);
        } else {
            connectionPool.withdraw(storeEndpoint.uri(), this);
        }
        if (answer.completeExceptionally(cause)) {
            finish();
        }
    }

    @Override
    public boolean isOver() {
        return aborted.get() != null;
    }

    @Override
    public boolean begin(StoreConnection given) {
        connection = given;
        boolean wanted = aborted.get() == null && (message.waitsToBeAskedFor()
                ? sent.get() == Sent.NOTHING
                : sent.compareAndSet(Sent.NOTHING, Sent.SOME));
        if (wanted) {
            storeEndpoint.connect();
            var _ = finished.thenRun(storeEndpoint::disconnect);
        }
        return wanted;
    }

    @Override
    public HttpRequest request() {
        return message.request();
    }

    @Override
    public @Nullable Publisher<ByteBuffer> body() {
        Publisher<ByteBuffer> body = message.body();
        return body == null ? null : subscriber -> subscribe(body, subscriber);
    }

    private void subscribe(Publisher<ByteBuffer> body, Subscriber<? super ByteBuffer> subscriber) {
        if (sent.compareAndSet(Sent.NOTHING, Sent.SOME) || sent.get() == Sent.SOME) {
            body.subscribe(subscriber);
        } else {
            FailedBody.subscribe(subscriber, HttpFailures.late("request was given up"));
        }
    }

    @Override
    public void head(HttpResponse head) {
        StoreConnection used = connection;
        if (used == null) {
            throw new IllegalStateException("a response without a connection");
        }
        if (isWithoutBody(head)) {
            bodyless = answer(head, FixedBody.EMPTY);
            return;
        }
        if (head.status().codeClass() == HttpStatusClass.SUCCESS
                && !HttpUtil.isContentLengthSet(head)
                && !HttpUtil.isTransferEncodingChunked(head)) {
            abort(new BackendException(Reason.MALFORMED,
                    "answer does not say how long it is", null));
            return;
        }
        ResponseBody body = new ResponseBody(used, this, idleTimeout, counters);
        responseBody = body;
        if (!answer.complete(answer(head, body))) {
            leave();
        }
    }

    private boolean isWithoutBody(HttpResponse head) {
        return message.request().method().name().equals("HEAD")
                || head.status().equals(HttpResponseStatus.NO_CONTENT)
                || head.status().equals(HttpResponseStatus.NOT_MODIFIED)
                || HttpUtil.getContentLength(head, -1L) == 0;
    }

    private static BackendResponse answer(HttpResponse head, Body body) {
        return new BackendResponse(head.status().code(), Headers.copyOf(head.headers()), body);
    }

    @Override
    public boolean wantsBytes() {
        ResponseBody body = responseBody;
        return body == null || body.wantsBytes();
    }

    @Override
    public @Nullable ByteBuffer room() {
        ResponseBody body = responseBody;
        return body == null ? null : body.room();
    }

    @Override
    public void landed(int bytes) {
        if (responseBody != null) {
            responseBody.landed(bytes);
        }
    }

    @Override
    public void content(ByteBuf bytes) {
        if (responseBody != null) {
            responseBody.content(bytes);
        }
    }

    @Override
    public void end() {
        if (responseBody != null) {
            responseBody.complete();
            return;
        }
        if (bodyless != null) {
            answer.complete(bodyless);
        }
        finish();
    }

    @Override
    public void failed(Throwable cause) {
        BackendException failure = translate(cause);
        if (responseBody != null) {
            responseBody.fail(failure);
        } else {
            answer.completeExceptionally(failure);
            finish();
        }
    }

    /** Closes the connection of a body that nobody reads on. Any thread. */
    void leave() {
        StoreConnection used = connection;
        if (used != null) {
            used.abort(this, HttpFailures.late("nobody reads the answer on"));
        }
        finish();
    }

    /** Ends the attempt, whose connection is free or closed. */
    void finish() {
        connectionPool.ended(this);
        finished.complete(null);
    }

    private BackendException translate(Throwable cause) {
        BackendException own = aborted.get();
        return own == null ? HttpFailures.translate(cause) : own;
    }
}
