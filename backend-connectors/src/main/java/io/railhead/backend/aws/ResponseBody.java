package io.railhead.backend.aws;

import io.netty.buffer.ByteBuf;
import io.railhead.backend.BackendException;
import io.railhead.backend.BackendException.Reason;
import io.railhead.backend.Body;
import io.railhead.backend.BodySink;
import io.railhead.backend.http.StoreConnection;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/**
 * A response's body on its way to its one reader. Demand reaches the socket. A store that stalls
 * while the gateway waits is cut off; the reader's own time does not count.
 *
 * <p> State and signals belong to the connection's event loop; the reader's calls may come from any
 * thread.
 */
final class ResponseBody implements Body {
    private static final long NOT_WAITING = Long.MIN_VALUE;

    private final StoreConnection connection;
    private final StoreAttempt storeAttempt;
    private final long idleNanos;
    private final Counters counters;
    private final AtomicBoolean taken = new AtomicBoolean();
    /**
     * Bytes that came before they were wanted: of one read, or all that the kernel had received
     * when the store closed its end.
     */
    private final Queue<ByteBuffer> held = new ArrayDeque<>();
    private @Nullable Reader reader;
    private @Nullable BackendException failure;
    private @Nullable ScheduledFuture<?> watchdog;
    private long received;
    private long waitingSince = NOT_WAITING;
    private boolean passing;
    private boolean whole;
    private boolean over;

    ResponseBody(StoreConnection connection, StoreAttempt storeAttempt, Duration idleTimeout,
            Counters counters) {
        this.connection = connection;
        this.storeAttempt = storeAttempt;
        this.idleNanos = idleTimeout.toNanos();
        this.counters = counters;
    }

    /** The two ways to read; on the event loop. */
    private sealed interface Reader {

        boolean wantsBytes();

        /** Takes bytes that it wants. */
        void take(ByteBuffer bytes);

        void complete();

        void fail(Throwable cause);
    }

    @Override
    public void subscribe(Subscriber<? super ByteBuffer> subscriber) {
        read(new Subscribed(subscriber));
    }

    @Override
    public void pour(BodySink sink) {
        read(new Poured(sink));
    }

    private void read(Reader started) {
        boolean first = taken.compareAndSet(false, true);
        onEventLoop(() -> {
            if (first) {
                begin(started);
            } else {
                started.fail(new IllegalStateException("a body can be read only once"));
            }
        });
    }

    private void onEventLoop(Runnable task) {
        if (connection.eventLoop().inEventLoop()) {
            task.run();
            return;
        }
        try {
            connection.eventLoop().execute(task);
        } catch (RejectedExecutionException _) {
            task.run(); // closed: nothing else runs there
        }
    }

    private void begin(Reader started) {
        if (failure != null) {
            started.fail(failure);
            return;
        }
        reader = started;
        if (!whole) {
            watch(idleNanos);
        }
        if (started instanceof Subscribed subscribed) {
            subscribed.begin();
        }
        pass();
    }

    /** Passes bytes that are held and wanted, and then the end. */
    private void pass() {
        Reader to = reader;
        if (passing) {
            return; // the caller is the reader, inside of take
        }
        passing = true;
        while (to != null && !over && !held.isEmpty() && to.wantsBytes()) {
            to.take(held.remove()); // never throws
        }
        passing = false;
        if (to != null && !over && whole && held.isEmpty()) {
            end();
            to.complete();
        } else {
            readOn();
        }
    }

    private void readOn() {
        if (!whole && !over) {
            boolean waits = wantsBytes();
            waitingSince = !waits
                    ? NOT_WAITING
                    : waitingSince == NOT_WAITING ? System.nanoTime() : waitingSince;
            connection.readOn();
        }
    }

    /** Returns whether the socket may be read; on the event loop, as all that follows. */
    boolean wantsBytes() {
        Reader to = reader;
        return to != null && held.isEmpty() && to.wantsBytes();
    }

    @Nullable
    ByteBuffer room() {
        return reader instanceof Poured poured && held.isEmpty() ? poured.room() : null;
    }

    void landed(int bytes) {
        count(bytes);
        if (reader instanceof Poured poured) {
            poured.landed(bytes);
        }
    }

    void content(ByteBuf bytes) {
        if (over) {
            return;
        }
        count(bytes.readableBytes());
        if (reader instanceof Poured poured && held.isEmpty()) {
            poured.take(bytes.nioBuffer());
        } else {
            ByteBuffer copy = ByteBuffer.allocate(bytes.readableBytes());
            bytes.getBytes(bytes.readerIndex(), copy);
            held.add(copy.flip());
            pass();
        }
    }

    private void count(int bytes) {
        received += bytes;
        counters.received(bytes);
        waitingSince = System.nanoTime();
    }

    /** Notes that all bytes have come. */
    void complete() {
        whole = true;
        pass();
    }

    void fail(BackendException cause) {
        failure = cause;
        if (over) {
            return;
        }
        end();
        counters.failed();
        if (reader != null) {
            reader.fail(cause);
        }
    }

    private void end() {
        over = true;
        held.clear();
        if (watchdog != null) {
            watchdog.cancel(false);
        }
        storeAttempt.finish();
    }

    private void cancel() {
        if (!over) {
            end();
            storeAttempt.leave();
        }
    }

    /** Ends a body whose reader threw. */
    private void thrown(Throwable cause) {
        boolean first = !over;
        cancel();
        if (first && reader != null) {
            reader.fail(cause);
        }
    }

    private void attempt(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            thrown(e);
        }
    }

    private void watch(long nanos) {
        watchdog = connection.eventLoop()
                .schedule(this::look, nanos, TimeUnit.NANOSECONDS);
    }

    private void look() {
        if (over || whole) {
            return;
        }
        long left = waitingSince == NOT_WAITING
                ? idleNanos
                : waitingSince + idleNanos - System.nanoTime();
        if (left <= 0) {
            storeAttempt.abort(new BackendException(Reason.LATE,
                    "body stalled after " + received + " bytes", null));
        } else {
            watch(left);
        }
    }

    /** A reader that takes everything, in its own memory where it has some. */
    private final class Poured implements Reader {
        private final BodySink sink;

        Poured(BodySink sink) {
            this.sink = sink;
        }

        @Override
        public boolean wantsBytes() {
            return true;
        }

        @Nullable
        ByteBuffer room() {
            try {
                return over ? null : sink.room();
            } catch (RuntimeException | Error e) {
                // Later: the channel is about to read, and must not close under it.
                connection.eventLoop().execute(() -> thrown(e));
                return null;
            }
        }

        void landed(int bytes) {
            attempt(() -> sink.landed(bytes));
        }

        @Override
        public void take(ByteBuffer bytes) {
            attempt(() -> sink.write(bytes));
        }

        @Override
        public void complete() {
            attempt(sink::complete);
        }

        @Override
        public void fail(Throwable cause) {
            sink.fail(cause);
        }
    }

    /** A reader that demands buffer by buffer. */
    private final class Subscribed implements Reader, Subscription {
        private final Subscriber<? super ByteBuffer> subscriber;
        private long demand;
        private boolean begun;

        Subscribed(Subscriber<? super ByteBuffer> subscriber) {
            this.subscriber = subscriber;
        }

        void begin() {
            begun = true;
            attempt(() -> subscriber.onSubscribe(this));
        }

        @Override
        public void request(long n) {
            onEventLoop(() -> {
                if (n <= 0) {
                    thrown(new IllegalArgumentException("demand must be > 0: " + n));
                    return;
                }
                boolean more = demand == 0;
                demand = demand + n < 0 ? Long.MAX_VALUE : demand + n;
                if (more && !over) {
                    pass();
                }
            });
        }

        @Override
        public void cancel() {
            onEventLoop(ResponseBody.this::cancel);
        }

        @Override
        public boolean wantsBytes() {
            return demand > 0;
        }

        @Override
        public void take(ByteBuffer bytes) {
            demand -= demand == Long.MAX_VALUE ? 0 : 1;
            attempt(() -> subscriber.onNext(bytes));
        }

        @Override
        public void complete() {
            attempt(subscriber::onComplete);
        }

        @Override
        public void fail(Throwable cause) {
            if (!begun) {
                subscriber.onSubscribe(Nothing.INSTANCE);
            }
            subscriber.onError(cause);
        }
    }

    private enum Nothing implements Subscription {
        INSTANCE;

        @Override
        public void request(long n) {}

        @Override
        public void cancel() {}
    }
}
