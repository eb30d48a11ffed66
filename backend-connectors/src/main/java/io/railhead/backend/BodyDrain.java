package io.railhead.backend;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/**
 * Collects a small body, or discards one. A body over the limit is cancelled, which closes its
 * connection. Its methods run on the publisher's thread.
 */
public final class BodyDrain implements Subscriber<ByteBuffer> {
    private static final long DISCARD_LIMIT_BYTES = 64 * 1024;

    private final CompletableFuture<byte[]> result = new CompletableFuture<>();
    private final long limitBytes;
    private final @Nullable ByteArrayOutputStream kept;
    private @Nullable Subscription subscription;
    private long received;

    private BodyDrain(long limitBytes, @Nullable ByteArrayOutputStream kept) {
        this.limitBytes = limitBytes;
        this.kept = kept;
    }

    /** Collects a body; fails with {@link BackendException} if it is longer than the limit. */
    public static CompletionStage<byte[]> collect(Publisher<ByteBuffer> body, int limitBytes) {
        BodyDrain reader = new BodyDrain(limitBytes, new ByteArrayOutputStream());
        body.subscribe(reader);
        return reader.result;
    }

    /** Discards the little that is left of a body, so that the connection can be reused. */
    public static void discard(Publisher<ByteBuffer> body) {
        body.subscribe(new BodyDrain(DISCARD_LIMIT_BYTES, null));
    }

    @Override
    public void onSubscribe(Subscription upstream) {
        subscription = upstream;
        upstream.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(ByteBuffer buffer) {
        received += buffer.remaining();
        if (received > limitBytes) {
            if (subscription != null) {
                subscription.cancel();
            }
            result.completeExceptionally(new BackendException(
                    BackendException.Reason.OVERSIZED,
                    "body is longer than " + limitBytes + " bytes", null));
        } else if (kept != null) {
            byte[] bytes = new byte[buffer.remaining()];
            buffer.get(bytes);
            kept.writeBytes(bytes);
        }
    }

    @Override
    public void onError(Throwable failure) {
        result.completeExceptionally(failure);
    }

    @Override
    public void onComplete() {
        result.complete(kept == null ? new byte[0] : kept.toByteArray());
    }
}
