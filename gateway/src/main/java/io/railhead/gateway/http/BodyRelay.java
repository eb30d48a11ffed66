package io.railhead.gateway.http;

import io.netty.buffer.Unpooled;
import io.vertx.core.Future;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.internal.buffer.BufferInternal;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/**
 * Relays a backend's body to the client and keeps none of it. The next piece is requested when an
 * earlier one has reached the socket. Signals arrive on the backend's threads and are moved to the
 * event loop.
 */
public final class BodyRelay implements Subscriber<ByteBuffer> {
    private static final int PIECES_IN_FLIGHT = 8;
    private static final CompletionStage<?> PASS = CompletableFuture.completedStage(null);

    private final HttpExchange httpExchange;
    private final HttpServerResponse response;
    private final Supplier<CompletionStage<?>> onWhole;
    private final Consumer<Outcome> onEnd;
    private final long expected;
    private long bytes;
    private boolean ended;
    /** Set while the last piece waits; the body's end waits behind it. */
    private boolean isHeld;
    private @Nullable Boolean endWhileHeld;
    private volatile Subscription subscription = new Subscription() {
        @Override
        public void request(long n) {
            // Not subscribed yet.
        }

        @Override
        public void cancel() {
            // Not subscribed yet.
        }
    };

    /**
     * The end of a relayed body.
     *
     * @param bytes the bytes that were handed to the socket
     * @param complete whether the backend's body ended normally and had the expected length
     */
    public record Outcome(long bytes, boolean complete) {}

    /** @param onEnd called once on the event loop; ends the response or cuts it */
    public BodyRelay(HttpExchange httpExchange, HttpServerResponse response, long expected,
            Consumer<Outcome> onEnd) {
        this(httpExchange, response, expected, () -> PASS, onEnd);
    }

    /**
     * A relay that reports the last byte before the client can see it, perhaps before the body's
     * end.
     *
     * @param expected the number of bytes to come, beyond which none is passed on; -1 if unknown
     * @param onWhole called on the event loop when all expected bytes have come; never if the
     *            number is unknown. The last byte is sent once the returned stage has completed,
     *            which never fails
     */
    public BodyRelay(HttpExchange httpExchange, HttpServerResponse response, long expected,
            Supplier<CompletionStage<?>> onWhole, Consumer<Outcome> onEnd) {
        this.httpExchange = httpExchange;
        this.response = response;
        this.expected = expected;
        this.onWhole = onWhole;
        this.onEnd = onEnd;
    }

    @Override
    public void onSubscribe(Subscription newSubscription) {
        subscription = newSubscription;
        httpExchange.executor().execute(() -> {
            if (httpExchange.isOver()) {
                newSubscription.cancel();
            } else {
                httpExchange.onClosed(newSubscription::cancel);
                newSubscription.request(PIECES_IN_FLIGHT);
            }
        });
    }

    @Override
    public void onNext(ByteBuffer piece) {
        httpExchange.executor().execute(() -> write(piece));
    }

    private void write(ByteBuffer piece) {
        if (httpExchange.isOver() || ended) {
            subscription.cancel();
            return;
        }
        if (expected >= 0 && piece.remaining() > expected - bytes) {
            subscription.cancel();
            end(false);
            return;
        }
        if (bytes == 0) {
            httpExchange.passes(piece);
        }
        bytes += piece.remaining();
        if (bytes == expected) {
            isHeld = true;
            httpExchange.after(onWhole.get(), () -> release(piece));
        } else {
            send(piece);
        }
    }

    /** Sends the last piece, and ends if the body has ended meanwhile. */
    private void release(ByteBuffer last) {
        isHeld = false;
        if (!httpExchange.isOver()) {
            send(last);
        }
        Boolean complete = endWhileHeld;
        if (complete != null) {
            end(complete);
        }
    }

    private void send(ByteBuffer piece) {
        Future<Void> written = response.write(BufferInternal.buffer(Unpooled.wrappedBuffer(piece)));
        written.onComplete(result -> {
            if (result.succeeded()) {
                subscription.request(1);
            } else {
                subscription.cancel();
            }
        });
    }

    @Override
    public void onError(Throwable cause) {
        httpExchange.executor().execute(() -> end(false));
    }

    @Override
    public void onComplete() {
        httpExchange.executor().execute(() -> end(expected < 0 || bytes == expected));
    }

    private void end(boolean complete) {
        if (isHeld) {
            endWhileHeld = complete;
        } else if (!ended) {
            ended = true;
            onEnd.accept(new Outcome(bytes, complete));
        }
    }
}
