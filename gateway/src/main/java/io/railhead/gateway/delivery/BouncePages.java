package io.railhead.gateway.delivery;

import static java.util.Objects.requireNonNull;

import io.railhead.cache.FillException;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.RangeReader;
import io.railhead.cache.memory.PageSlice;
import io.railhead.rdma.Transfer;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/**
 * A store's response that may not be cached, in pages of the reserve on its way to a fabric. At
 * most a window of one response is in memory, so that a slow peer does not hold the whole reserve.
 * At that limit, or while the reserve is empty, the next piece waits until a page of this response
 * has been moved. If no page is under way, the response fails.
 *
 * <p> State belongs to the executor; the subscriber's calls are moved there.
 */
public final class BouncePages implements RangeReader {
    private final ObjectCache cache;
    private final Publisher<ByteBuffer> body;
    private final long length;
    private final int mostUnderWay;
    private final Executor executor;
    private @Nullable Sink sink;
    private @Nullable Subscription subscription;
    private @Nullable PageSlice landing;
    private @Nullable ByteBuffer waiting;
    private int filled;
    private long handedOver;
    private int underWay;
    private boolean allCame;
    private boolean over;

    /**
     * @param length the body's exact length; any other length fails
     * @param windowBytes the most bytes in memory at a time, at least a page
     */
    public BouncePages(ObjectCache cache, Publisher<ByteBuffer> body, long length,
            long windowBytes, Executor executor) {
        this.cache = cache;
        this.body = body;
        this.length = length;
        this.mostUnderWay = (int) Math.max(1, windowBytes / cache.pageBytes());
        this.executor = executor;
    }

    /** Sets the receiver of the pages, before {@link #start}. */
    public void into(Sink newSink) {
        sink = newSink;
    }

    private Sink sink() {
        return requireNonNull(sink, "into() was not called");
    }

    /** Wraps the transfer that moves the pages, to learn when each page is free. */
    public Transfer watching(Transfer transfer) {
        return new Transfer() {
            @Override
            public CompletionStage<Void> write(PageSlice ownedSlice, long bufferOffset) {
                return transfer.write(ownedSlice, bufferOffset)
                        .whenComplete(
                                (done, failure) -> executor.execute(BouncePages.this::moved));
            }

            @Override
            public CompletionStage<PageSlice> read(PageSlice ownedSlice, long bufferOffset) {
                throw new UnsupportedOperationException("a body is only written");
            }

            @Override
            public CompletionStage<Void> fence() {
                return transfer.fence();
            }
        };
    }

    @Override
    public void start() {
        body.subscribe(new Subscriber<>() {
            @Override
            public void onSubscribe(Subscription newSubscription) {
                executor.execute(() -> {
                    subscription = newSubscription;
                    if (over) {
                        newSubscription.cancel();
                    } else {
                        newSubscription.request(1);
                    }
                });
            }

            @Override
            public void onNext(ByteBuffer bytes) {
                executor.execute(() -> take(bytes));
            }

            @Override
            public void onError(Throwable cause) {
                executor.execute(() -> fail(FillException.Reason.BACKEND_FAILED,
                        "the store's answer broke off", cause));
            }

            @Override
            public void onComplete() {
                executor.execute(BouncePages.this::complete);
            }
        });
    }

    private void take(ByteBuffer bytes) {
        if (over) {
            return;
        }
        if (bytes.remaining() > length - handedOver - filled) {
            fail(FillException.Reason.BACKEND_FAILED, "the store sent more than it announced",
                    null);
            return;
        }
        while (bytes.hasRemaining() && !over) {
            if (landing == null && !tryLand()) {
                await(bytes);
                return;
            }
            fill(requireNonNull(landing), bytes);
        }
        if (!over && subscription != null) {
            subscription.request(1);
        }
    }

    private boolean tryLand() {
        if (underWay >= mostUnderWay) {
            return false;
        }
        landing = cache.land(handedOver, (int) Math.min(cache.pageBytes(), length - handedOver));
        filled = 0;
        return landing != null;
    }

    private void await(ByteBuffer bytes) {
        if (underWay > 0) {
            waiting = bytes;
        } else {
            fail(FillException.Reason.NO_MEMORY, "the reserve is full", null);
        }
    }

    private void fill(PageSlice page, ByteBuffer bytes) {
        long from = 0;
        for (MemorySegment segment : page.segments()) {
            long at = filled - from;
            if (at >= 0 && at < segment.byteSize() && bytes.hasRemaining()) {
                int count = (int) Math.min(segment.byteSize() - at, bytes.remaining());
                MemorySegment.copy(
                        MemorySegment.ofBuffer(bytes.slice(bytes.position(), count)), 0, segment,
                        at, count);
                bytes.position(bytes.position() + count);
                filled += count;
            }
            from += segment.byteSize();
        }
        if (filled == page.length()) {
            landing = null;
            handedOver += filled;
            filled = 0;
            underWay++;
            sink().slice(page);
        }
    }

    private void moved() {
        underWay--;
        ByteBuffer next = waiting;
        if (next != null) {
            waiting = null;
            take(next);
            endIfComplete();
        }
    }

    private void complete() {
        allCame = true;
        endIfComplete();
    }

    private void endIfComplete() {
        if (over || !allCame || waiting != null) {
            return;
        }
        if (handedOver < length) {
            fail(FillException.Reason.BACKEND_FAILED, "the store sent less than it announced",
                    null);
        } else {
            over = true;
            sink().end();
        }
    }

    private void fail(FillException.Reason reason, String message, @Nullable Throwable cause) {
        if (!over) {
            long at = handedOver;
            cancel();
            sink().failed(new FillException(reason, message, cause), at);
        }
    }

    @Override
    public void cancel() {
        over = true;
        waiting = null;
        if (landing != null) {
            landing.close();
            landing = null;
        }
        if (subscription != null) {
            subscription.cancel();
        }
    }
}
