package io.railhead.gateway.object.passthrough;

import io.railhead.cache.FillException;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.ObjectMetadata;
import io.railhead.cache.PageSource;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/**
 * A relayed body whose whole pages are copied into memory as they pass, one run at a time. A run is
 * not copied if memory is short or another request fills it already.
 *
 * <p> The body comes only as fast as its client takes it, while others may wait for its pages. A
 * run that takes too long is therefore abandoned, and the others ask for themselves. Signals come
 * on the source's thread, {@link #abandon} on any. This object's monitor guards both, and is held
 * only while one piece is copied.
 */
public final class CachingTee implements Subscriber<ByteBuffer> {
    private static final long PATIENCE_SECONDS = 2;

    private final ObjectCache cache;
    private final ObjectMetadata metadata;
    private final long runBytes;
    private final long end;
    private final Subscriber<? super ByteBuffer> client;
    private long position;
    private long runEnd;
    private PageSource.@Nullable Sink run;

    /** @param to one past the body's last byte */
    public CachingTee(ObjectCache cache, ObjectMetadata metadata, long from, long to, long runBytes,
            Subscriber<? super ByteBuffer> client) {
        this.cache = cache;
        this.metadata = metadata;
        this.runBytes = runBytes;
        this.client = client;
        int page = cache.pageBytes();
        this.position = from;
        this.end = to == metadata.version().sizeBytes() ? to : to / page * page;
        // The bytes before the first whole page are treated as a run that is not kept.
        this.runEnd = Math.ceilDiv(from, page) * page;
    }

    @Override
    public void onSubscribe(Subscription subscription) {
        client.onSubscribe(subscription);
    }

    @Override
    public void onNext(ByteBuffer piece) {
        keep(piece.duplicate());
        client.onNext(piece);
    }

    private synchronized void keep(ByteBuffer bytes) {
        while (bytes.hasRemaining() && position < end) {
            if (position == runEnd) {
                begin();
            }
            int count = (int) Math.min(bytes.remaining(), runEnd - position);
            if (run != null) {
                run.write(bytes.slice(bytes.position(), count));
            }
            bytes.position(bytes.position() + count);
            position += count;
            if (position == runEnd && run != null) {
                run.complete();
                run = null;
            }
        }
    }

    private void begin() {
        long from = position;
        runEnd = Math.min((from / runBytes + 1) * runBytes, end);
        long length = runEnd - from;
        // The tenant is unknown here: only the store can verify the signature.
        cache.discover(metadata.version().object(), "",
                flight -> run = flight.found(metadata, from, length));
        PageSource.Sink begun = run;
        if (begun != null) {
            CompletableFuture.delayedExecutor(PATIENCE_SECONDS, TimeUnit.SECONDS)
                    .execute(() -> abandon(begun));
        }
    }

    @SuppressWarnings("ReferenceEquality")
    private synchronized void abandon(PageSource.Sink begun) {
        if (run == begun) {
            abandon();
        }
    }

    /** Abandons the current run; later runs may be kept again. */
    public synchronized void abandon() {
        if (run != null) {
            run.fail(new FillException(FillException.Reason.BACKEND_FAILED,
                    "the client that it came for takes no more of it", null));
            run = null;
        }
    }

    @Override
    public void onError(Throwable cause) {
        abandon();
        client.onError(cause);
    }

    @Override
    public void onComplete() {
        abandon();
        client.onComplete();
    }
}
