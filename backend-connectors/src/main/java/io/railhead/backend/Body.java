package io.railhead.backend;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/**
 * A response's body, read once: by a subscriber as it demands, or by a sink as fast as it comes. A
 * subscriber may keep the buffers.
 */
@FunctionalInterface
public interface Body extends Publisher<ByteBuffer> {

    /** Passes all bytes to the sink, on the connection's event loop. */
    default void pour(BodySink sink) {
        subscribe(new Pouring(sink));
    }

    /** Pours a body of a kind that knows subscribers only. */
    final class Pouring implements Subscriber<ByteBuffer> {
        private final BodySink sink;
        private @Nullable Subscription upstream;

        private Pouring(BodySink sink) {
            this.sink = sink;
        }

        @Override
        public void onSubscribe(Subscription subscription) {
            upstream = subscription;
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(ByteBuffer bytes) {
            attempt(() -> sink.write(bytes));
        }

        @Override
        public void onError(Throwable cause) {
            sink.fail(cause);
        }

        @Override
        public void onComplete() {
            attempt(sink::complete);
        }

        private void attempt(Runnable step) {
            try {
                step.run();
            } catch (RuntimeException | Error e) {
                if (upstream != null) {
                    upstream.cancel();
                }
                sink.fail(e);
            }
        }
    }
}
