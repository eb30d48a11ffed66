package io.railhead.backend;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/** A body in memory, perhaps empty. Can be subscribed to again. */
public record FixedBody(ByteBuffer content) implements Body {
    public static final FixedBody EMPTY = new FixedBody(ByteBuffer.allocate(0));

    @Override
    public void subscribe(Subscriber<? super ByteBuffer> subscriber) {
        subscriber.onSubscribe(new Once(subscriber, content.asReadOnlyBuffer()));
    }

    private record Once(Subscriber<? super ByteBuffer> subscriber, ByteBuffer content,
            AtomicBoolean done) implements Subscription {
        Once(Subscriber<? super ByteBuffer> subscriber, ByteBuffer content) {
            this(subscriber, content, new AtomicBoolean());
        }

        @Override
        public void request(long n) {
            if (!done.compareAndSet(false, true)) {
                return;
            }
            if (n <= 0) {
                subscriber.onError(new IllegalArgumentException("demand must be > 0: " + n));
                return;
            }
            if (content.hasRemaining()) {
                subscriber.onNext(content);
            }
            subscriber.onComplete();
        }

        @Override
        public void cancel() {
            done.set(true);
        }
    }
}
