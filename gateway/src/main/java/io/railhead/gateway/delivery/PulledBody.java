package io.railhead.gateway.delivery;

import io.railhead.cache.ObjectCache;
import io.railhead.cache.memory.PageSlice;
import io.railhead.gateway.auth.BodyReader;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Exception;
import io.railhead.rdma.Transfer;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/**
 * A body that is read out of the client's memory, page by page, as the backend asks for it:
 * verified against what was declared, the last piece held back until it has been. At most one page
 * of the reserve is used at a time. Each piece is copied off its page before it is handed on,
 * because nobody tells when the backend's socket has taken it.
 *
 * <p>State belongs to the event loop; all calls are taken there.
 */
public final class PulledBody implements Publisher<ByteBuffer> {
    private final ObjectCache cache;
    private final Transfer transfer;
    private final Executor executor;
    private final BodyReader reader;
    private final long length;
    private final int pageBytes;
    private final Queue<ByteBuffer> pieces = new ArrayDeque<>();
    private @Nullable Subscriber<? super ByteBuffer> subscriber;
    private @Nullable Throwable failure;
    private long demand;
    private long pulled;
    private boolean pulling;
    private boolean ended;
    private boolean over;

    /** @param reader verifies what is pulled; {@code length} bytes in all */
    public PulledBody(ObjectCache cache, Transfer transfer, Executor executor, BodyReader reader,
            long length,
            int pageBytes) {
        this.cache = cache;
        this.transfer = transfer;
        this.executor = executor;
        this.reader = reader;
        this.length = length;
        this.pageBytes = pageBytes;
    }

    /** Why the body could not be read or was not what was declared; null if it was. */
    public @Nullable Throwable failure() {
        return failure;
    }

    /** Stops pulling; the subscriber, if it still waits, hears the cause. Event loop only. */
    public void abort(Throwable cause) {
        fail(cause);
    }

    @Override
    public void subscribe(Subscriber<? super ByteBuffer> newSubscriber) {
        executor.execute(() -> {
            subscriber = newSubscriber;
            newSubscriber.onSubscribe(new Subscription() {
                @Override
                public void request(long n) {
                    executor.execute(() -> demanded(n));
                }

                @Override
                public void cancel() {
                    executor.execute(() -> over = true);
                }
            });
            if (failure != null) {
                newSubscriber.onError(failure);
            }
        });
    }

    private void demanded(long n) {
        demand = demand + n < 0 ? Long.MAX_VALUE : demand + n;
        emit();
    }

    private void emit() {
        Subscriber<? super ByteBuffer> to = subscriber;
        if (to == null || over) {
            return;
        }
        while (demand > 0 && !pieces.isEmpty()) {
            demand--;
            to.onNext(pieces.remove());
        }
        if (ended && pieces.isEmpty()) {
            over = true;
            to.onComplete();
        } else if (demand > 0 && !pulling && !ended) {
            pull();
        }
    }

    private void pull() {
        if (pulled == length) {
            verified();
            return;
        }
        PageSlice landing = cache.land(pulled, (int) Math.min(pageBytes, length - pulled));
        if (landing == null) {
            fail(new S3Exception(S3Error.SLOW_DOWN,
                    "The gateway has no memory to receive into; please retry."));
            return;
        }
        pulling = true;
        transfer.read(landing, pulled).whenComplete((landed, cause) -> executor.execute(() -> {
            pulling = false;
            if (cause != null) {
                fail(cause);
            } else {
                landed(landed);
            }
        }));
    }

    private void landed(PageSlice ownedSlice) {
        try (ownedSlice) {
            pulled += ownedSlice.length();
            for (ByteBuffer buffer : ownedSlice.buffers()) {
                reader.accept(ByteBuffer.allocate(buffer.remaining()).put(buffer).flip(),
                        pieces::add);
            }
        } catch (S3Exception e) {
            fail(e);
        }
        if (pulled == length) {
            verified();
        } else {
            emit();
        }
    }

    private void verified() {
        if (over || ended) {
            return;
        }
        try {
            reader.end(pieces::add);
            ended = true;
            emit();
        } catch (S3Exception e) {
            fail(e);
        }
    }

    private void fail(Throwable cause) {
        if (over) {
            return;
        }
        over = true;
        failure = cause;
        if (subscriber != null) {
            subscriber.onError(cause);
        }
    }
}
