package io.railhead.gateway.http;

import io.netty.buffer.Unpooled;
import io.vertx.core.Future;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.internal.buffer.BufferInternal;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/**
 * A backend's body on its way to the client, nothing of it kept: a piece is asked for when an
 * earlier one has reached the socket. Signals arrive on the backend's threads and are taken to the
 * event loop.
 */
public final class BodyRelay implements Subscriber<ByteBuffer> {
    private static final int PIECES_IN_FLIGHT = 8;

    private final Exchange exchange;
    private final HttpServerResponse response;
    private final Runnable onWhole;
    private final Consumer<Outcome> onEnd;
    private final long announced;
    private long bytes;
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
     * How it ended.
     *
     * @param bytes handed to the socket
     * @param complete whether the backend's body ended as it should
     */
    public record Outcome(long bytes, boolean complete) {}

    /** @param onEnd called once on the event loop; it ends the response or cuts it */
    public BodyRelay(Exchange exchange, HttpServerResponse response, Consumer<Outcome> onEnd) {
        this(exchange, response, () -> {}, onEnd);
    }

    /**
     * One that says when all is there before the client can know, which may be before the end.
     *
     * @param onWhole called on the event loop when the response's length has been reached, and
     *            before the last of it is sent; never where that was not announced
     */
    public BodyRelay(Exchange exchange, HttpServerResponse response, Runnable onWhole,
            Consumer<Outcome> onEnd) {
        this.exchange = exchange;
        this.response = response;
        this.onWhole = onWhole;
        this.onEnd = onEnd;
        this.announced = announced(response.headers().get(HttpHeaders.CONTENT_LENGTH));
    }

    private static long announced(@Nullable String length) {
        try {
            return length == null ? -1 : Long.parseLong(length);
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    @Override
    public void onSubscribe(Subscription newSubscription) {
        subscription = newSubscription;
        exchange.executor().execute(() -> {
            if (exchange.isOver()) {
                newSubscription.cancel();
            } else {
                exchange.onClosed(newSubscription::cancel);
                newSubscription.request(PIECES_IN_FLIGHT);
            }
        });
    }

    @Override
    public void onNext(ByteBuffer piece) {
        exchange.executor().execute(() -> write(piece));
    }

    private void write(ByteBuffer piece) {
        if (exchange.isOver()) {
            subscription.cancel();
            return;
        }
        if (bytes == 0) {
            exchange.passes(piece);
        }
        bytes += piece.remaining();
        if (bytes == announced) {
            onWhole.run();
        }
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
        exchange.executor().execute(() -> onEnd.accept(new Outcome(bytes, false)));
    }

    @Override
    public void onComplete() {
        exchange.executor().execute(() -> onEnd.accept(new Outcome(bytes, true)));
    }
}
