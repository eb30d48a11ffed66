package io.railhead.gateway.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.CacheConfig;
import io.railhead.cache.FillException;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.RangeReader;
import io.railhead.cache.memory.LeakCheck;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageSlice;
import io.railhead.rdma.Transfer;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.reactivestreams.FlowAdapters;

/** A peer that stalls while a body comes: of the reserve no more is held than a window. */
class BouncePagesTest {
    private static final int PAGE = 64 << 10;

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private final Deque<PageSlice> stalled = new ArrayDeque<>();
    private final Deque<CompletableFuture<Void>> writes = new ArrayDeque<>();
    private int handedOver;
    private boolean ended;

    private final Transfer peer = new Transfer() {
        @Override
        public CompletionStage<Void> write(PageSlice ownedSlice, long bufferOffset) {
            CompletableFuture<Void> write = new CompletableFuture<>();
            stalled.add(ownedSlice);
            writes.add(write);
            return write;
        }

        @Override
        public CompletionStage<PageSlice> read(PageSlice ownedSlice, long bufferOffset) {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletionStage<Void> fence() {
            return CompletableFuture.completedFuture(null);
        }
    };

    @Test
    void theNextPageWaitsUntilOneHasMoved() {
        BouncePages body = landing(5, pages(5, 6));
        body.start();
        for (int moved = 0; moved < 5; moved++) {
            assertThat(handedOver).isEqualTo(Math.min(5, moved + 2));
            move();
        }
        assertThat(ended).isTrue();
    }

    /** Stores say so without being asked, while the last page may still wait for room. */
    @Test
    void aBodyThatIsCompleteEndsOnceItsLastPageHasBeenHandedOver() {
        BouncePages body = landing(3, pages(3, 3));
        body.start();
        assertThat(handedOver).isEqualTo(2);
        assertThat(ended).isFalse();
        move();
        assertThat(handedOver).isEqualTo(3);
        assertThat(ended).isTrue();
        move();
        move();
    }

    private void move() {
        stalled.remove().close();
        writes.remove().complete(null);
    }

    /** With a window of two pages. */
    private BouncePages landing(int pages, Flow.Publisher<ByteBuffer> store) {
        PageMemory memory = leaks
                .watch(PageMemory.open(new MemoryConfig(64L << 20, PAGE, 0.1, false), _ -> {}));
        ObjectCache cache = leaks
                .closing(new ObjectCache(memory, CacheConfig.DEFAULT, System::nanoTime));
        BouncePages body = new BouncePages(cache, FlowAdapters.toPublisher(store),
                (long) pages * PAGE, 2L * PAGE, Runnable::run);
        Transfer watched = body.watching(peer);
        body.into(new RangeReader.Sink() {
            @Override
            public void slice(PageSlice ownedSlice) {
                handedOver++;
                var _ = watched.write(ownedSlice, 0);
            }

            @Override
            public void end() {
                ended = true;
            }

            @Override
            public void failed(FillException cause, long atOffset) {
                throw new AssertionError(cause);
            }
        });
        return body;
    }

    /** One page for each request, and the end with one of them. */
    private static Flow.Publisher<ByteBuffer> pages(int count, int lastRequest) {
        return subscriber -> subscriber.onSubscribe(new Flow.Subscription() {
            private int requests;

            @Override
            public void request(long n) {
                int request = ++requests;
                if (request <= count) {
                    subscriber.onNext(ByteBuffer.allocate(PAGE));
                }
                if (request == lastRequest) {
                    subscriber.onComplete();
                }
            }

            @Override
            public void cancel() {
                requests = lastRequest;
            }
        });
    }
}
