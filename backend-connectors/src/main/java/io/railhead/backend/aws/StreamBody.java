package io.railhead.backend.aws;

import io.railhead.backend.Payload;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/**
 * A framed {@link Payload.Stream} on its way out. The last buffer is held back until the publisher
 * has completed with exactly the declared length, if there is one. So a body that fails, or has
 * another length, never reaches the store whole.
 *
 * <p> Signals come from both sides on any threads; the thread that raises {@code work} from zero
 * drains.
 */
final class StreamBody implements Publisher<ByteBuffer> {
    private static final int PREFETCH = 4;

    private final Payload.Stream payload;
    private final BodyFraming bodyFraming;
    private final Counters counters;
    private final AtomicBoolean subscribed = new AtomicBoolean();
    private volatile @Nullable Flow flow;
    private volatile @Nullable Throwable aborted;
    private volatile long progressNanos = System.nanoTime();
    private volatile boolean sent;

    StreamBody(Payload.Stream payload, BodyFraming bodyFraming, Counters counters) {
        this.payload = payload;
        this.bodyFraming = bodyFraming;
        this.counters = counters;
    }

    /** Returns the time when a buffer last moved towards the store. */
    long progressNanos() {
        return progressNanos;
    }

    /** Returns whether the HTTP client has the whole body. */
    boolean isSent() {
        return sent;
    }

    /**
     * Returns whether a stall is the sender's fault: the body failed, or its next piece is awaited.
     */
    boolean isSendersFault() {
        Flow running = flow;
        return running != null && !sent && (running.sourceFailed || running.demand.get() > 0);
    }

    /** Stops the body. */
    void abort(Throwable cause) {
        aborted = cause;
        Flow running = flow;
        if (running != null) {
            running.stop(cause);
        }
    }

    @Override
    public void subscribe(Subscriber<? super ByteBuffer> subscriber) {
        if (!subscribed.compareAndSet(false, true)) {
            throw new IllegalStateException("a stream can be sent only once");
        }
        Flow started = new Flow(subscriber);
        flow = started;
        Throwable cause = aborted;
        if (cause != null) {
            started.stop(cause);
        }
        payload.body().subscribe(started);
    }

    /** Both ends of the flow. Fields without a modifier belong to the draining thread. */
    private final class Flow implements Subscriber<ByteBuffer>, Subscription {
        private final Subscriber<? super ByteBuffer> downstream;
        private final AtomicInteger work = new AtomicInteger();
        private final AtomicLong demand = new AtomicLong();
        private final Queue<ByteBuffer> arrived = new ConcurrentLinkedQueue<>();
        private final ArrayDeque<ByteBuffer> framed = new ArrayDeque<>();
        private final AtomicBoolean failed = new AtomicBoolean();
        private volatile @Nullable Throwable failure;
        private volatile boolean sourceFailed;
        private volatile boolean completed;
        private volatile boolean cancelled;
        private volatile @Nullable Subscription upstream;
        private long decodedBytes;
        private int asked;
        private boolean finished;
        private boolean terminated;

        Flow(Subscriber<? super ByteBuffer> downstream) {
            this.downstream = downstream;
        }

        @Override
        public void onSubscribe(Subscription subscription) {
            if (upstream != null) {
                subscription.cancel();
                return;
            }
            upstream = subscription;
            downstream.onSubscribe(this);
            drain();
        }

        @Override
        public void onNext(ByteBuffer buffer) {
            arrived.add(buffer);
            drain();
        }

        @Override
        public void onError(Throwable cause) {
            sourceFailed = true;
            stop(cause);
        }

        void stop(Throwable cause) {
            fail(cause);
            drain();
        }

        @Override
        public void onComplete() {
            completed = true;
            drain();
        }

        @Override
        public void request(long n) {
            demand.accumulateAndGet(n, (a, b) -> a + b < 0 ? Long.MAX_VALUE : a + b);
            drain();
        }

        @Override
        public void cancel() {
            cancelled = true;
            drain();
        }

        private void drain() {
            if (upstream == null || work.getAndIncrement() != 0) {
                return;
            }
            int missed = 1;
            do {
                step();
                missed = work.addAndGet(-missed);
            } while (missed != 0);
        }

        private void step() {
            if (terminated) {
                arrived.clear();
                return;
            }
            boolean ended = completed;
            takeArrived();
            if (ended && !finished && failure == null) {
                finish();
            }
            Throwable cause = failure;
            if (cancelled || cause != null) {
                end(cause);
                return;
            }
            emit();
            pull();
        }

        private void takeArrived() {
            for (ByteBuffer buffer = arrived.poll(); buffer != null; buffer = arrived.poll()) {
                asked--;
                decodedBytes += buffer.remaining();
                if (payload.hasLength() && decodedBytes > payload.lengthBytes()) {
                    fail(wrongLength("longer"));
                } else if (buffer.hasRemaining()) {
                    bodyFraming.frame(buffer, framed::add);
                }
            }
        }

        private void finish() {
            finished = true;
            if (payload.hasLength() && decodedBytes != payload.lengthBytes()) {
                fail(wrongLength("shorter"));
                return;
            }
            try {
                bodyFraming.finish(framed::add);
            } catch (RuntimeException | Error e) {
                fail(e);
            }
        }

        private void emit() {
            while (!framed.isEmpty() && demand.get() > 0 && (finished || framed.size() > 1)) {
                ByteBuffer buffer = framed.removeFirst();
                if (demand.get() != Long.MAX_VALUE) {
                    demand.decrementAndGet();
                }
                progressNanos = System.nanoTime();
                counters.wrote(buffer.remaining());
                downstream.onNext(buffer);
            }
            if (finished && framed.isEmpty()) {
                terminated = true;
                progressNanos = System.nanoTime();
                sent = true;
                downstream.onComplete();
            }
        }

        private void pull() {
            Subscription source = upstream;
            if (source != null && !completed && !terminated && asked < PREFETCH
                    && framed.size() < PREFETCH) {
                int more = PREFETCH - asked;
                asked = PREFETCH;
                source.request(more);
            }
        }

        private void end(@Nullable Throwable cause) {
            terminated = true;
            framed.clear();
            Subscription source = upstream;
            if (source != null && !completed) {
                source.cancel();
            }
            if (cause != null && !cancelled) {
                downstream.onError(cause);
            }
        }

        private void fail(Throwable cause) {
            if (failed.compareAndSet(false, true)) {
                failure = cause;
            }
        }

        private IllegalStateException wrongLength(String how) {
            sourceFailed = true;
            return new IllegalStateException(
                    "body is " + how + " than " + payload.lengthBytes() + " bytes");
        }
    }
}
