package io.railhead.backend.aws;

import io.railhead.backend.BackendException;
import io.railhead.backend.BackendException.Reason;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/**
 * A response's body, for one subscriber. Demand reaches the socket, and the length is compared with
 * Content-Length. A store that stalls while the gateway waits is cut off; the subscriber's own time
 * does not count. Signals come on the connection's event loop; demand and cancellation may come
 * from any thread.
 */
final class ResponseBody implements Publisher<ByteBuffer>, Subscriber<ByteBuffer>, Subscription {
    private static final long NOT_WAITING = Long.MIN_VALUE;

    private final Publisher<ByteBuffer> source;
    private final long expectedBytes;
    private final StoreAttempt storeAttempt;
    private final ConnectionPool connectionPool;
    private final long idleNanos;
    private final Counters counters;
    private final AtomicBoolean subscribed = new AtomicBoolean();
    /** Set once the source has a subscriber. */
    private final AtomicBoolean taken = new AtomicBoolean();
    private final AtomicBoolean over = new AtomicBoolean();
    private final AtomicLong demand = new AtomicLong();
    private volatile long waitingSince = NOT_WAITING;
    private volatile @Nullable Subscription upstream;
    private volatile @Nullable ScheduledFuture<?> watchdog;
    private long received;
    private @Nullable Subscriber<? super ByteBuffer> downstream; // guarded by this
    private @Nullable BackendException failure; // guarded by this
    private boolean announced; // guarded by this

    /** @param expectedBytes the declared length; -1 if unknown */
    ResponseBody(Publisher<ByteBuffer> source, long expectedBytes, StoreAttempt storeAttempt,
            ConnectionPool connectionPool, Duration idleTimeout, Counters counters) {
        this.source = source;
        this.expectedBytes = expectedBytes;
        this.storeAttempt = storeAttempt;
        this.connectionPool = connectionPool;
        this.idleNanos = idleTimeout.toNanos();
        this.counters = counters;
    }

    @Override
    public void subscribe(Subscriber<? super ByteBuffer> subscriber) {
        if (!subscribed.compareAndSet(false, true)) {
            refuse(subscriber, new IllegalStateException("a body can be read only once"));
            return;
        }
        BackendException early;
        synchronized (this) {
            early = failure;
            if (early == null) {
                downstream = subscriber;
            }
        }
        if (early != null) {
            refuse(subscriber, early);
        } else if (taken.compareAndSet(false, true)) {
            source.subscribe(this);
        }
    }

    private static void refuse(Subscriber<? super ByteBuffer> subscriber, Throwable cause) {
        subscriber.onSubscribe(Nothing.INSTANCE);
        subscriber.onError(cause);
    }

    @Override
    public void onSubscribe(Subscription subscription) {
        Subscriber<? super ByteBuffer> reader;
        synchronized (this) {
            reader = announced ? null : downstream;
            announced = true;
        }
        if (reader == null) {
            subscription.cancel();
            return;
        }
        upstream = subscription;
        watchdog = connectionPool.timer().schedule(this::watch, idleNanos, TimeUnit.NANOSECONDS);
        reader.onSubscribe(this);
    }

    @Override
    public void request(long n) {
        Subscription source = upstream;
        if (source == null || over.get()) {
            return;
        }
        if (n > 0 && demand.getAndAccumulate(n, ResponseBody::capped) == 0) {
            waitingSince = System.nanoTime();
        }
        source.request(n);
    }

    /** Cancels the body, and then ends the attempt: a backend that closes waits for attempts. */
    @Override
    public void cancel() {
        if (over.compareAndSet(false, true)) {
            try {
                release();
            } finally {
                ended();
            }
        }
    }

    /** Makes the source release its buffers, which it does only for a subscriber. */
    private void release() {
        Subscription subscription = upstream;
        if (subscription != null) {
            subscription.cancel();
        } else if (taken.compareAndSet(false, true)) {
            source.subscribe(this); // onSubscribe then cancels
        }
    }

    @Override
    public void onNext(ByteBuffer buffer) {
        if (over.get()) {
            return;
        }
        received += buffer.remaining();
        counters.received(buffer.remaining());
        waitingSince = demand.decrementAndGet() > 0 ? System.nanoTime() : NOT_WAITING;
        Subscriber<? super ByteBuffer> reader = reader();
        if (expectedBytes >= 0 && received > expectedBytes) {
            storeAttempt.abort(wrongLength());
        } else if (reader != null) {
            reader.onNext(buffer);
        }
    }

    @Override
    public void onError(Throwable cause) {
        fail(storeAttempt.translate(cause));
    }

    @Override
    public void onComplete() {
        if (expectedBytes >= 0 && received != expectedBytes) {
            fail(wrongLength());
            return;
        }
        Subscriber<? super ByteBuffer> reader = reader();
        if (end() && reader != null) {
            reader.onComplete();
        }
    }

    /** Fails the body; on the event loop only. */
    void fail(BackendException cause) {
        Subscriber<? super ByteBuffer> reader;
        boolean late;
        synchronized (this) {
            failure = cause;
            reader = downstream;
            late = !announced;
            announced = true;
        }
        if (!over.compareAndSet(false, true)) {
            return;
        }
        release();
        ended();
        counters.failed();
        if (reader != null) {
            if (late) {
                reader.onSubscribe(Nothing.INSTANCE);
            }
            reader.onError(cause);
        }
    }

    private boolean end() {
        boolean isFirst = over.compareAndSet(false, true);
        if (isFirst) {
            ended();
        }
        return isFirst;
    }

    private void ended() {
        synchronized (this) {
            // Cleared, since the pool refers to this object while the connection is idle.
            downstream = null;
        }
        ScheduledFuture<?> watching = watchdog;
        if (watching != null) {
            watching.cancel(false);
        }
        storeAttempt.end();
    }

    private void watch() {
        if (over.get()) {
            return;
        }
        if (waitingSince == NOT_WAITING && demand.get() > 0) {
            waitingSince = System.nanoTime(); // demand and a buffer crossed
        }
        long since = waitingSince;
        long left = since == NOT_WAITING ? idleNanos : since + idleNanos - System.nanoTime();
        if (left <= 0) {
            storeAttempt.abort(new BackendException(Reason.LATE,
                    "body stalled after " + received + " bytes", null));
        } else {
            watchdog = connectionPool.timer().schedule(this::watch, left, TimeUnit.NANOSECONDS);
        }
    }

    private synchronized @Nullable Subscriber<? super ByteBuffer> reader() {
        return downstream;
    }

    private BackendException wrongLength() {
        return new BackendException(Reason.MALFORMED,
                "body has " + received + " bytes where " + expectedBytes + " were announced",
                null);
    }

    private static long capped(long a, long b) {
        return a + b < 0 ? Long.MAX_VALUE : a + b;
    }

    private enum Nothing implements Subscription {
        INSTANCE;

        @Override
        public void request(long n) {}

        @Override
        public void cancel() {}
    }
}
