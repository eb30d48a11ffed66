package io.railhead.backend.aws;

import io.railhead.backend.BackendException;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.Headers;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.http.async.SdkAsyncHttpResponseHandler;

/**
 * One attempt at one endpoint, from the request to the last byte of its answer. The client calls
 * the handler's methods on the connection's event loop, one at a time, and every failure of a body
 * comes by that way too, so that its subscriber hears one signal at a time.
 */
final class Exchange implements SdkAsyncHttpResponseHandler, Transport.Abortable {
    private final String method;
    private final Duration idleTimeout;
    private final Transport transport;
    private final Counters counters;
    private final CompletableFuture<BackendResponse> answer = new CompletableFuture<>();
    private final CompletableFuture<@Nullable Void> finished = new CompletableFuture<>();
    private final AtomicReference<@Nullable BackendException> aborted = new AtomicReference<>();
    private volatile @Nullable CompletableFuture<Void> execution;
    private volatile @Nullable StreamBody requestBody;
    private @Nullable SdkHttpResponse head;
    private @Nullable ResponseBody responseBody;

    Exchange(String method, Duration idleTimeout, Transport transport, Counters counters) {
        this.method = method;
        this.idleTimeout = idleTimeout;
        this.transport = transport;
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

    void start(Wire.Message message) {
        requestBody = message.stream();
        transport.began(this);
        try {
            execution = transport.execute(message, this);
        } catch (RuntimeException e) {
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
            answer.complete(answer(response, FixedBody.empty()));
            end();
            return;
        }
        if (contentLength(response) < 0 && !isChunked(response)) {
            BodyDrain.discard(stream);
            abort(new BackendException("answer does not say how long it is", false, null));
            return;
        }
        ResponseBody body = new ResponseBody(stream, contentLength(response), this, transport,
                idleTimeout, counters);
        responseBody = body;
        if (!answer.complete(answer(response, body))) {
            BodyDrain.discard(body);
        }
    }

    @Override
    public void onError(Throwable cause) {
        BackendException failure = translate(cause);
        ResponseBody body = responseBody;
        if (body != null) {
            body.fail(failure);
        } else {
            answer.completeExceptionally(failure);
            end();
        }
    }

    /** The connection is free or gone. */
    void end() {
        transport.ended(this);
        finished.complete(null);
    }

    private BackendException translate(Throwable cause) {
        BackendException own = aborted.get();
        if (own != null) {
            return own;
        }
        return Failures.translate(cause);
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
