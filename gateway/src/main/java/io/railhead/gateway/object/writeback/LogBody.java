package io.railhead.gateway.object.writeback;

import io.railhead.backend.BackendException;
import io.railhead.backend.Body;
import io.railhead.cache.writeback.LogReader;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/**
 * Bytes {@code [from, to)} of a pending object, out of the log, for one subscriber. It is called on
 * the log's threads, one call at a time. The reader is closed at the body's end, or by
 * {@link #closeUnused}: until then the log's room is taken.
 */
final class LogBody implements Body {
    private static final int MOST_AT_ONCE = 64 << 10;

    private final LogReader ownedReader;
    private final long from;
    private final long to;
    private final Consumer<Throwable> onFailure;
    private final AtomicBoolean used = new AtomicBoolean();
    private volatile long emittedBytes;

    /**
     * @param ownedReader of the object's entry
     * @param onFailure learns why bytes could not be read
     */
    LogBody(LogReader ownedReader, long from, long to, Consumer<Throwable> onFailure) {
        this.ownedReader = ownedReader;
        this.from = from;
        this.to = to;
        this.onFailure = onFailure;
    }

    @Override
    public void subscribe(Subscriber<? super ByteBuffer> subscriber) {
        boolean isOver = used.getAndSet(true);
        subscriber.onSubscribe(new Reading(this, subscriber, isOver));
        if (isOver) {
            subscriber.onError(new BackendException(BackendException.Reason.UNSENT,
                    "the body is closed, or has a subscriber", null));
        }
    }

    /** Returns the bytes that its subscriber has been given. */
    long emittedBytes() {
        return emittedBytes;
    }

    /** Closes the readers, and refuses a later subscriber, unless there is one. */
    void closeUnused() {
        if (used.compareAndSet(false, true)) {
            ownedReader.close();
        }
    }

    private static final class Reading implements Subscription {
        private final LogBody body;
        private final Subscriber<? super ByteBuffer> subscriber;
        private long demand; // guarded by this
        private boolean busy; // guarded by this
        private boolean over; // guarded by this
        private long at;
        private @Nullable ByteBuffer chunk;

        Reading(LogBody body, Subscriber<? super ByteBuffer> subscriber, boolean isOver) {
            this.body = body;
            this.subscriber = subscriber;
            this.over = isOver;
            this.at = body.from;
        }

        @Override
        public void request(long n) {
            synchronized (this) {
                demand = demand + n < 0 ? Long.MAX_VALUE : demand + n;
                if (busy || over) {
                    return;
                }
                busy = true;
            }
            pump();
        }

        @Override
        public void cancel() {
            synchronized (this) {
                if (over) {
                    return;
                }
                over = true;
                if (busy) {
                    return;
                }
            }
            body.ownedReader.close();
        }

        /** Emits what was asked for; only while {@code busy}. */
        private void pump() {
            while (true) {
                if (at == body.to) {
                    end(null);
                    return;
                }
                if (!mayGoOn()) {
                    return;
                }
                ByteBuffer ready = chunk;
                if (ready == null) {
                    read();
                    return;
                }
                int count = Math.min(MOST_AT_ONCE, ready.remaining());
                ByteBuffer piece = ready.slice(ready.position(), count);
                ready.position(ready.position() + count);
                chunk = ready.hasRemaining() ? ready : null;
                at += count;
                body.emittedBytes = at - body.from;
                subscriber.onNext(piece);
            }
        }

        /** Takes one of the demand; ends being busy if there is none, or nobody listens. */
        private boolean mayGoOn() {
            boolean ended;
            synchronized (this) {
                ended = over;
                if (!ended && demand > 0) {
                    if (chunk != null) {
                        demand--;
                    }
                    return true;
                }
                busy = false;
            }
            if (ended) {
                body.ownedReader.close();
            }
            return false;
        }

        private void read() {
            body.ownedReader.read(at, body.to - at).whenComplete(this::arrived);
        }

        private void arrived(@Nullable ByteBuffer bytes, @Nullable Throwable failure) {
            if (bytes == null) {
                end(failure);
            } else {
                chunk = bytes;
                pump();
            }
        }

        private void end(@Nullable Throwable failure) {
            boolean told;
            synchronized (this) {
                told = over;
                over = true;
                busy = false;
            }
            body.ownedReader.close();
            if (failure != null) {
                body.onFailure.accept(failure);
            }
            if (told) {
                return;
            }
            if (failure == null) {
                subscriber.onComplete();
            } else {
                subscriber.onError(new BackendException(BackendException.Reason.BROKEN,
                        "the write-back log cannot be read", failure));
            }
        }
    }
}
