package io.railhead.gateway.admin;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.railhead.gateway.s3.ErrorXml;
import io.railhead.gateway.s3.Guard;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.vertx.core.Context;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.impl.HttpServerConnection;
import io.vertx.core.internal.buffer.BufferInternal;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one response to a call: a JSON object, lines of them, or S3's error document. Any thread;
 * writes happen on the request's event loop.
 */
final class AdminResponse {
    private static final Logger LOG = LoggerFactory.getLogger(AdminResponse.class);
    private static final long MAX_DRAINED_BYTES = 16 << 20;
    /** Small, so that a slow caller makes progress often. */
    private static final int PIECE_BYTES = 64 << 10;

    private final HttpServerRequest request;
    private final HttpServerResponse response;
    private final Context context;
    private final String requestId;
    private final Patience patience;
    private boolean begun;

    /**
     * The bounds of an answer of bytes.
     *
     * @param most the longest time in which the caller takes nothing of what is sent
     * @param onBegin called before the first byte is sent
     */
    record Patience(Duration most, Runnable onBegin) {}

    AdminResponse(HttpServerRequest request, Context context, String requestId,
            Patience patience) {
        this.patience = patience;
        this.request = request;
        this.response = request.response();
        this.context = context;
        this.requestId = requestId;
    }

    /**
     * Sets a listener, called once on the event loop if the caller leaves before the response's
     * end.
     */
    void onClosed(Runnable listener) {
        response.closeHandler(_ -> {
            if (!response.ended()) {
                listener.run();
            }
        });
    }

    /** Sends a progress line; left out if the caller does not keep up. */
    void line(JsonObject line) {
        execute(() -> {
            if (isOpen() && !response.writeQueueFull()) {
                begin();
                response.write(line.encode() + "\n");
            }
        });
    }

    /** Runs a step, and closes the connection if it fails: the caller must not wait for more. */
    private void execute(Runnable step) {
        context.runOnContext(_ -> Guard.run(step, thrown -> {
            LOG.warn("the answer to {} could not be written", request.path(), thrown);
            request.connection().close();
        }));
    }

    private boolean isOpen() {
        return !response.closed() && !response.ended();
    }

    private void begin() {
        if (!begun) {
            begun = true;
            head(200, "application/x-ndjson");
            response.setChunked(true);
        }
    }

    private void head(int status, String type) {
        response.setStatusCode(status)
                .putHeader("content-type", type)
                .putHeader("cache-control", "no-store")
                .putHeader("x-amz-request-id", requestId);
    }

    /** Begins an answer of so many bytes, which {@link #bytes} sends; no line may follow. */
    void beginBytes(long lengthBytes) {
        patience.onBegin.run();
        execute(() -> {
            if (isOpen()) {
                begun = true;
                head(200, "application/octet-stream");
                response.putHeader("content-length", Long.toString(lengthBytes));
            }
        });
    }

    /**
     * Sends bytes, and waits until they are sent. Throws if the caller has left. One who takes
     * nothing for too long is cut off, and that throws {@code S3Refusal}.
     */
    void bytes(ByteBuffer bytes) throws InterruptedException {
        while (bytes.hasRemaining()) {
            int count = Math.min(bytes.remaining(), PIECE_BYTES);
            piece(bytes.slice(bytes.position(), count));
            bytes.position(bytes.position() + count);
        }
    }

    private void piece(ByteBuffer bytes) throws InterruptedException {
        CompletableFuture<@Nullable Void> sent = new CompletableFuture<>();
        execute(() -> {
            if (isOpen()) {
                response.write(BufferInternal.buffer(Unpooled.wrappedBuffer(bytes)))
                        .onComplete(_ -> sent.complete(null), sent::completeExceptionally);
            } else {
                sent.cancel(false);
            }
        });
        try {
            sent.get(patience.most.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException | CancellationException e) {
            throw new InterruptedException("the caller has left");
        } catch (TimeoutException e) {
            execute(this::reset);
            throw new S3Refusal(S3Error.REQUEST_TIMEOUT, "The caller took nothing for "
                    + patience.most.toSeconds() + " s.");
        }
    }

    /** Ends the connection without waiting for what is still to be sent. */
    private void reset() {
        Channel channel = ((HttpServerConnection) request.connection()).channelHandlerContext()
                .channel();
        channel.config().setOption(ChannelOption.SO_LINGER, 0);
        channel.unsafe().close(channel.voidPromise());
    }

    /** Ends an answer, all of whose bytes were sent. */
    void endBytes() {
        execute(() -> {
            if (isOpen()) {
                response.end();
            }
        });
    }

    /** Sends the whole response, or its last line. */
    void end(JsonObject last) {
        execute(() -> {
            if (isOpen()) {
                if (!begun) {
                    head(200, "application/json");
                }
                response.end(last.encode() + "\n");
            }
        });
    }

    /**
     * Sends an error; after progress lines the response is cut, so that it does not look finished.
     */
    void fail(S3Refusal error) {
        execute(() -> {
            if (!isOpen()) {
                return;
            }
            if (begun) {
                request.connection().close();
                return;
            }
            head(error.status(), "application/xml");
            error.headers().forEach(response::putHeader);
            response.end(ErrorXml.render(error, String.valueOf(request.path()), requestId,
                    "railhead"));
            drain();
        });
    }

    /** Discards the rest of the request, so that its sender can receive the response. */
    private void drain() {
        if (request.isEnded()) {
            return;
        }
        long[] drained = {0};
        request.handler(piece -> {
            drained[0] += piece.length();
            if (drained[0] > MAX_DRAINED_BYTES) {
                request.connection().close();
            }
        });
        request.resume();
    }
}
