package io.railhead.gateway.object.cacheonly;

import io.railhead.backend.BackendException;
import io.railhead.backend.Body;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.ObjectVersion;
import io.railhead.cache.memory.PageSlice;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/**
 * Bytes {@code [from, to)} of a cache-only object, copied piece by piece out of its pages: no page
 * is leased while the reader is slow. An object that went to disk meanwhile is brought back, and
 * the body goes on from the disk's thread. It breaks off if the object is gone. The subscriber's
 * calls may come from any thread; calls to it come one at a time.
 */
record PagesBody(ObjectCache cache, ObjectVersion version, long from, long to) implements Body {
    private static final int PIECE = 64 << 10;

    @Override
    public void subscribe(Subscriber<? super ByteBuffer> subscriber) {
        subscriber.onSubscribe(new Reading(this, subscriber));
    }

    /** The thread that raises {@code news} from 0 emits, until it is 0 again. */
    private static final class Reading implements Subscription {
        private final PagesBody body;
        private final Subscriber<? super ByteBuffer> subscriber;
        private final @Nullable PageSlice[] slices = new @Nullable PageSlice[2];
        private final AtomicLong demand = new AtomicLong();
        private final AtomicInteger news = new AtomicInteger();
        private volatile boolean over;
        private volatile boolean rising;
        private long at;
        /** The offset at which the object was brought back last; -1 before. */
        private long raisedAt = -1;

        Reading(PagesBody body, Subscriber<? super ByteBuffer> subscriber) {
            this.body = body;
            this.subscriber = subscriber;
            this.at = body.from;
        }

        @Override
        public void request(long n) {
            demand.accumulateAndGet(n,
                    (had, more) -> had + more < 0 ? Long.MAX_VALUE : had + more);
            wake();
        }

        private void wake() {
            if (news.getAndIncrement() != 0) {
                return;
            }
            int seen = news.get();
            while (seen != 0) {
                emitAll();
                seen = news.addAndGet(-seen);
            }
        }

        private void emitAll() {
            while (!over && !rising && demand.get() > 0 && at < body.to) {
                emit();
            }
            if (!over && at == body.to) {
                over = true;
                subscriber.onComplete();
            }
        }

        private void emit() {
            ByteBuffer piece = tryCopy((int) Math.min(PIECE, body.to - at));
            if (piece != null) {
                demand.decrementAndGet();
                at += piece.remaining();
                subscriber.onNext(piece);
            } else if (raisedAt != at) {
                raisedAt = at;
                raise();
            } else {
                over = true;
                subscriber.onError(new BackendException(BackendException.Reason.BROKEN,
                        "the object went while it was read", null));
            }
        }

        private void raise() {
            rising = true;
            body.cache.cacheOnly().raise(body.version.object()).thenRun(() -> {
                rising = false;
                wake();
            });
        }

        private @Nullable ByteBuffer tryCopy(int length) {
            int count = body.cache.tryLease(body.version, at, at + length, slices);
            if (count < 0) {
                return null;
            }
            ByteBuffer copy = ByteBuffer.allocate(length);
            for (int i = 0; i < count; i++) {
                try (PageSlice slice = slices[i]) {
                    if (slice != null) {
                        slice.buffers().forEach(copy::put);
                    }
                }
                slices[i] = null;
            }
            return copy.flip();
        }

        @Override
        public void cancel() {
            over = true;
        }
    }
}
