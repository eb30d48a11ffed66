package io.railhead.backend.testing;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/** Bodies to send and readers to check what comes back. */
public final class Bodies {
    private static final Executor OTHER_THREAD = task -> Thread.ofVirtual().start(task);

    private Bodies() {}

    /** These bytes in buffers of that size. */
    public static Publisher<ByteBuffer> of(byte[] content, int bufferBytes) {
        return new Source(content.length, bufferBytes, -1, (at, length) -> ByteBuffer
                .wrap(content, (int) at, length)
                .slice());
    }

    /** Announces so much and fails after so much, which may be all. */
    public static Publisher<ByteBuffer> failing(long size, long failAt) {
        return new Source(size, 50_000, failAt, Bodies::patternAt);
    }

    /** Bytes that tell where they belong. */
    public static Pattern pattern(long size, int bufferBytes) {
        return new Pattern(new Source(size, bufferBytes, -1, Bodies::patternAt));
    }

    private static ByteBuffer patternAt(long at, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = patternByte(at + i);
        }
        return ByteBuffer.wrap(bytes);
    }

    private static byte patternByte(long at) {
        return (byte) (at * 31 + (at >> 13));
    }

    private interface Content {
        ByteBuffer at(long offset, int length);
    }

    /** A body whose demand is watched. */
    public record Pattern(Publisher<ByteBuffer> source) implements Publisher<ByteBuffer> {
        @Override
        public void subscribe(Subscriber<? super ByteBuffer> subscriber) {
            source.subscribe(subscriber);
        }

        /** Buffers that were sent without having been asked for. */
        public long mostAheadOfDemand() {
            return source instanceof Source own ? Math.max(0, -own.leastDemand.get()) : 0;
        }
    }

    /** Emits on a thread of its own, only what was asked for. */
    private static final class Source implements Publisher<ByteBuffer> {
        private final long size;
        private final int bufferBytes;
        private final long failAt;
        private final Content content;
        private final AtomicLong leastDemand = new AtomicLong();

        Source(long size, int bufferBytes, long failAt, Content content) {
            this.size = size;
            this.bufferBytes = bufferBytes;
            this.failAt = failAt;
            this.content = content;
        }

        @Override
        public void subscribe(Subscriber<? super ByteBuffer> subscriber) {
            subscriber.onSubscribe(new Run(subscriber));
        }

        private final class Run implements Subscription {
            private final Subscriber<? super ByteBuffer> subscriber;
            private final AtomicLong demand = new AtomicLong();
            private long at;
            private boolean over;

            Run(Subscriber<? super ByteBuffer> subscriber) {
                this.subscriber = subscriber;
                if (size == 0 || failAt == 0) {
                    OTHER_THREAD.execute(this::emit);
                }
            }

            @Override
            public void request(long n) {
                demand.addAndGet(n);
                OTHER_THREAD.execute(this::emit);
            }

            private synchronized void emit() {
                while (!over && (demand.get() > 0 || at == end())) {
                    if (at == end()) {
                        over = true;
                        if (failAt >= 0) {
                            subscriber.onError(new IllegalStateException("scripted failure"));
                        } else {
                            subscriber.onComplete();
                        }
                        return;
                    }
                    int length = (int) Math.min(bufferBytes, end() - at);
                    leastDemand.accumulateAndGet(demand.decrementAndGet(), Math::min);
                    ByteBuffer buffer = content.at(at, length);
                    at += length;
                    subscriber.onNext(buffer);
                }
            }

            private long end() {
                return failAt >= 0 ? failAt : size;
            }

            @Override
            public synchronized void cancel() {
                over = true;
            }
        }
    }

    /** Checks the pattern, asking for one buffer at a time, later and from another thread. */
    public static final class PatternCheck implements Subscriber<ByteBuffer> {
        private final CompletableFuture<Long> received = new CompletableFuture<>();
        private final AtomicLong demand = new AtomicLong();
        private final AtomicLong leastDemand = new AtomicLong();
        private volatile @Nullable Subscription subscription;
        private long at;

        public CompletionStage<Long> received() {
            return received;
        }

        public long mostAheadOfDemand() {
            return Math.max(0, -leastDemand.get());
        }

        @Override
        public void onSubscribe(Subscription upstream) {
            subscription = upstream;
            askLater(upstream);
        }

        private void askLater(Subscription upstream) {
            OTHER_THREAD.execute(() -> {
                demand.incrementAndGet();
                upstream.request(1);
            });
        }

        @Override
        public void onNext(ByteBuffer buffer) {
            leastDemand.accumulateAndGet(demand.decrementAndGet(), Math::min);
            while (buffer.hasRemaining()) {
                if (buffer.get() != patternByte(at)) {
                    received.completeExceptionally(
                            new AssertionError("wrong byte at " + at));
                    return;
                }
                at++;
            }
            Subscription upstream = subscription;
            if (upstream != null) {
                askLater(upstream);
            }
        }

        @Override
        public void onError(Throwable cause) {
            received.completeExceptionally(cause);
        }

        @Override
        public void onComplete() {
            received.complete(at);
        }
    }
}
