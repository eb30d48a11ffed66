package io.railhead.gateway.object.writeback;

import io.railhead.backend.Body;
import io.railhead.backend.BodyDrain;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;

/** A store's body, which holds its connection until somebody reads or discards it. Any thread. */
final class OnceRead implements Publisher<ByteBuffer> {
    private final Body body;
    private final AtomicBoolean read = new AtomicBoolean();

    OnceRead(Body body) {
        this.body = body;
    }

    @Override
    public void subscribe(Subscriber<? super ByteBuffer> subscriber) {
        read.set(true);
        body.subscribe(subscriber);
    }

    void discardUnread() {
        if (!read.get()) {
            BodyDrain.discard(body);
        }
    }
}
