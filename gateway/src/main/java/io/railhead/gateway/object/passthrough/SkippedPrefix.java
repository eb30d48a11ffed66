package io.railhead.gateway.object.passthrough;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/** A body without its first bytes. The source's thread only. */
public final class SkippedPrefix implements Subscriber<ByteBuffer> {
    private final Subscriber<ByteBuffer> rest;
    private long toSkip;
    private @Nullable Subscription subscription;

    public SkippedPrefix(Subscriber<ByteBuffer> rest, long bytes) {
        this.rest = rest;
        this.toSkip = bytes;
    }

    @Override
    public void onSubscribe(Subscription newSubscription) {
        subscription = newSubscription;
        rest.onSubscribe(newSubscription);
    }

    @Override
    public void onNext(ByteBuffer piece) {
        int skipped = (int) Math.min(toSkip, piece.remaining());
        toSkip -= skipped;
        piece.position(piece.position() + skipped);
        if (piece.hasRemaining()) {
            rest.onNext(piece);
        } else if (subscription != null) {
            subscription.request(1);
        }
    }

    @Override
    public void onError(Throwable cause) {
        rest.onError(cause);
    }

    @Override
    public void onComplete() {
        rest.onComplete();
    }
}
