package io.railhead.gateway.object.cacheonly;

import io.railhead.backend.BackendException;
import io.railhead.backend.Body;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.ObjectVersion;
import io.railhead.cache.memory.PageSlice;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/**
 * Bytes {@code [from, to)} of a cache-only object, copied piece by piece out of its pages: no page
 * is leased while the reader is slow. The body breaks off if the object goes meanwhile. The
 * subscriber's calls come from one thread.
 */
record PagesBody(ObjectCache cache, ObjectVersion version, long from, long to) implements Body {
    private static final int PIECE = 64 << 10;

    @Override
    public void subscribe(Subscriber<? super ByteBuffer> subscriber) {
        subscriber.onSubscribe(new Reading(this, subscriber));
    }

    private static final class Reading implements Subscription {
        private final PagesBody body;
        private final Subscriber<? super ByteBuffer> subscriber;
        private final @Nullable PageSlice[] slices = new @Nullable PageSlice[2];
        private long at;
        private long demand;
        private boolean emitting;
        private boolean over;

        Reading(PagesBody body, Subscriber<? super ByteBuffer> subscriber) {
            this.body = body;
            this.subscriber = subscriber;
            this.at = body.from;
        }

        @Override
        public void request(long n) {
            demand = demand + n < 0 ? Long.MAX_VALUE : demand + n;
            if (emitting) {
                return;
            }
            emitting = true;
            while (!over && demand > 0 && at < body.to) {
                demand--;
                emit();
            }
            if (!over && at == body.to) {
                over = true;
                subscriber.onComplete();
            }
            emitting = false;
        }

        private void emit() {
            ByteBuffer piece = tryCopy((int) Math.min(PIECE, body.to - at));
            if (piece == null) {
                over = true;
                subscriber.onError(new BackendException(BackendException.Reason.BROKEN,
                        "the object went while it was read", null));
            } else {
                at += piece.remaining();
                subscriber.onNext(piece);
            }
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
