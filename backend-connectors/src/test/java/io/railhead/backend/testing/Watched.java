package io.railhead.backend.testing;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/** A body that counts who asks for it, and how much. */
public record Watched(Publisher<ByteBuffer> body, AtomicInteger subscribers,
        AtomicLong requested) implements Publisher<ByteBuffer> {

    public Watched(Publisher<ByteBuffer> body) {
        this(body, new AtomicInteger(), new AtomicLong());
    }

    @Override
    public void subscribe(Subscriber<? super ByteBuffer> subscriber) {
        subscribers.incrementAndGet();
        body.subscribe(new Subscriber<>() {
            @Override
            public void onSubscribe(Subscription subscription) {
                subscriber.onSubscribe(new Subscription() {
                    @Override
                    public void request(long n) {
                        requested.addAndGet(n);
                        subscription.request(n);
                    }

                    @Override
                    public void cancel() {
                        subscription.cancel();
                    }
                });
            }

            @Override
            public void onNext(ByteBuffer buffer) {
                subscriber.onNext(buffer);
            }

            @Override
            public void onError(Throwable cause) {
                subscriber.onError(cause);
            }

            @Override
            public void onComplete() {
                subscriber.onComplete();
            }
        });
    }
}
