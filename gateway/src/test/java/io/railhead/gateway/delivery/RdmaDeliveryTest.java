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
import io.railhead.gateway.request.ResponseSink;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.TransferException;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A peer that stalls, one that fails, and a client that leaves: what is told when. */
@Timeout(60)
class RdmaDeliveryTest {
    private static final int PAGE = 64 << 10;
    private static final Duration SOON = Duration.ofMillis(300);
    private static final Duration NEVER = Duration.ofMinutes(5);

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private final Vertx vertx = Vertx.vertx();
    private final StalledPeer peer = new StalledPeer();
    private final HandReader reader = new HandReader();
    private final Client client = new Client(vertx.getOrCreateContext());
    private ObjectCache cache;
    private @Nullable RdmaDelivery delivery;

    @BeforeEach
    void begin() {
        PageMemory memory = leaks
                .watch(PageMemory.open(new MemoryConfig(64L << 20, PAGE, 0.1, false), _ -> {}));
        cache = leaks.closing(new ObjectCache(memory, CacheConfig.DEFAULT, System::nanoTime));
    }

    private void start(Duration decide, Duration fence) {
        start(decide, fence, peer, reader);
    }

    private void start(Duration decide, Duration fence, Transfer transfer, RangeReader bytes) {
        RdmaDelivery started = new RdmaDelivery(client, vertx, transfer, 0,
                new RdmaDeadlines(decide, fence), client);
        delivery = started;
        client.run(() -> started.start(bytes));
    }

    private RdmaDelivery delivery() {
        return Objects.requireNonNull(delivery, "start() was not called");
    }

    @AfterEach
    void end() {
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }

    private PageSlice page(int number) {
        return Objects.requireNonNull(cache.land((long) number * PAGE, PAGE));
    }

    private void offer(int number) {
        client.run(() -> delivery().slice(page(number)));
    }

    @Test
    void aPeerThatStallsIsFencedAtTheDeadlineAndTheClientHearsOnlyAfterTheFence()
            throws Exception {
        start(NEVER, SOON);
        offer(0);
        offer(1);
        peer.fenced.await();
        assertThat(client.sinceArrival()).isGreaterThanOrEqualTo(SOON);
        client.run(() -> {});
        assertThat(client.heard).as("before the fence has returned").isEmpty();

        int posted = peer.writes.size();
        assertThat(posted).isPositive();
        offer(2);
        assertThat(peer.writes).as("nothing is posted behind a fence").hasSize(posted);
        peer.fenceReturns();
        assertThat(client.awaitWord()).isEqualTo("broken FENCED");
        assertThat(reader.cancelled).isTrue();
    }

    @Test
    void aReadOfWhichNothingComesInTimeIsDeclinedAndNothingIsPostedAfterwards()
            throws Exception {
        start(SOON, NEVER);
        assertThat(client.awaitWord()).isEqualTo("declined slow");
        assertThat(client.sinceArrival()).isGreaterThanOrEqualTo(SOON);
        offer(0);
        client.run(delivery()::end);
        assertThat(peer.writes).isEmpty();
        assertThat(client.heard).hasSize(1);
    }

    @Test
    void itIsDeliveredWhenTheLastByteIsThereAndNotBefore() throws Exception {
        start(NEVER, NEVER);
        offer(0);
        offer(1);
        client.run(delivery()::end);
        peer.arrives(1);
        client.run(() -> {});
        assertThat(client.heard).isEmpty();
        peer.arrives(0);
        assertThat(client.awaitWord()).isEqualTo("delivered");
        assertThat(peer.fenced.getCount()).isEqualTo(1);
    }

    @Test
    void aWriteThatFailsFencesTheOthersFirst() throws Exception {
        start(NEVER, NEVER);
        offer(0);
        offer(1);
        peer.fails(0);
        peer.fenced.await();
        client.run(() -> {});
        assertThat(client.heard).isEmpty();
        peer.fenceReturns();
        assertThat(client.awaitWord()).isEqualTo("broken PEER_GONE");
    }

    @Test
    void aClientThatGoesAwayIsFencedAtOnce() throws Exception {
        start(NEVER, NEVER);
        offer(0);
        client.run(() -> client.closed.forEach(Runnable::run));
        peer.fenced.await();
        peer.fenceReturns();
        assertThat(client.awaitWord()).isEqualTo("broken FENCED");
    }

    @Test
    void whatFailsAfterTheFirstByteIsNoDecline() throws Exception {
        start(NEVER, NEVER);
        offer(0);
        client.run(() -> delivery().failed(
                new FillException(FillException.Reason.NO_MEMORY, "no page", null), PAGE));
        peer.fenced.await();
        peer.fenceReturns();
        assertThat(client.awaitWord()).startsWith("broken").doesNotContain("declined");
    }

    @Test
    void whatFailsBeforeTheFirstByteIsADeclineOnlyForWantOfMemory() throws Exception {
        start(NEVER, NEVER);
        client.run(() -> delivery().failed(
                new FillException(FillException.Reason.NO_MEMORY, "no page", null), 0));
        assertThat(client.awaitWord()).isEqualTo("declined memory");
    }

    /** As a hit over loopback is: no timer, no further turn of the event loop. */
    @Test
    void whatIsCopiedWithinTheCallIsDeliveredWithinIt() {
        List<String> heardWithin = new ArrayList<>();
        start(NEVER, NEVER, new QuickPeer(), new HeldReader() {
            @Override
            public void start() {
                super.start();
                delivery().end();
                heardWithin.addAll(client.heard);
            }
        });
        assertThat(heardWithin).containsExactly("delivered");
        assertThat(client.heard).hasSize(1);
    }

    @Test
    void deadlinesHoldForAReaderThatHandsOverWithinItsStart() throws Exception {
        start(NEVER, SOON, peer, new HeldReader());
        peer.fenced.await();
        assertThat(client.sinceArrival()).isGreaterThanOrEqualTo(SOON);
        peer.fenceReturns();
        assertThat(client.awaitWord()).isEqualTo("broken FENCED");
    }

    @Test
    void theFencesDeadlineHoldsBehindAWriteThatWasDoneAtOnce() throws Exception {
        start(NEVER, SOON, new QuickPeer(), new HeldReader());
        assertThat(client.awaitWord()).isEqualTo("broken FENCED");
    }

    /** Hands two slices over within its start. */
    private class HeldReader implements RangeReader {

        @Override
        public void start() {
            delivery().slice(page(0));
            delivery().slice(page(1));
        }

        @Override
        public void cancel() {
            // Holds nothing.
        }
    }

    /** Copies within the call. */
    private static final class QuickPeer implements Transfer {

        @Override
        public CompletionStage<Void> write(PageSlice ownedSlice, long bufferOffset) {
            ownedSlice.close();
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public CompletionStage<PageSlice> read(PageSlice ownedSlice, long bufferOffset) {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletionStage<Void> fence() {
            return CompletableFuture.completedFuture(null);
        }
    }

    /** Bytes come when the test says so. */
    private static final class HandReader implements RangeReader {
        private volatile boolean cancelled;

        @Override
        public void start() {
            // The test hands the slices over.
        }

        @Override
        public void cancel() {
            cancelled = true;
        }
    }

    /** Completes nothing by itself, and keeps what it was given until the fence returns. */
    private static final class StalledPeer implements Transfer {
        private final List<CompletableFuture<Void>> writes = new ArrayList<>();
        private final List<PageSlice> owned = new ArrayList<>();
        private final CompletableFuture<Void> fence = new CompletableFuture<>();
        private final CountDownLatch fenced = new CountDownLatch(1);

        @Override
        public synchronized CompletionStage<Void> write(PageSlice ownedSlice, long bufferOffset) {
            assertThat(fenced.getCount()).as("a write behind the fence").isEqualTo(1);
            CompletableFuture<Void> write = new CompletableFuture<>();
            writes.add(write);
            owned.add(ownedSlice);
            return write;
        }

        synchronized void arrives(int write) {
            owned.get(write).close();
            writes.get(write).complete(null);
        }

        synchronized void fails(int write) {
            owned.get(write).close();
            writes.get(write)
                    .completeExceptionally(new TransferException(
                            TransferException.Reason.PEER_GONE, "the peer is gone"));
        }

        @Override
        public CompletionStage<PageSlice> read(PageSlice ownedSlice, long bufferOffset) {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletionStage<Void> fence() {
            fenced.countDown();
            return fence;
        }

        synchronized void fenceReturns() {
            for (int i = 0; i < writes.size(); i++) {
                if (!writes.get(i).isDone()) {
                    fails(i);
                }
            }
            fence.complete(null);
        }
    }

    /** A requester with an event loop of its own; tasks of the test run there and are awaited. */
    private static final class Client implements ResponseSink, RdmaDelivery.Outcome {
        private final Context loop;
        private final long arrivedAtNanos = System.nanoTime();
        private final List<Runnable> closed = new ArrayList<>();
        private final List<String> heard = new ArrayList<>();
        private final CompletableFuture<String> word = new CompletableFuture<>();

        Client(Context loop) {
            this.loop = loop;
        }

        void run(Runnable task) {
            CompletableFuture.runAsync(task, executor()).join();
        }

        String awaitWord() throws Exception {
            return word.get(30, TimeUnit.SECONDS);
        }

        Duration sinceArrival() {
            return Duration.ofNanos(System.nanoTime() - arrivedAtNanos);
        }

        private void hear(String said) {
            heard.add(said);
            word.complete(said);
        }

        @Override
        public void delivered() {
            hear("delivered");
        }

        @Override
        public void declined(String reason) {
            hear("declined " + reason);
        }

        @Override
        public void broken(@Nullable Throwable cause) {
            hear("broken " + (cause instanceof TransferException transfer
                    ? transfer.reason()
                    : cause));
        }

        @Override
        public Executor executor() {
            return task -> loop.runOnContext(_ -> task.run());
        }

        @Override
        public long arrivedAtNanos() {
            return arrivedAtNanos;
        }

        @Override
        public boolean isOver() {
            return false;
        }

        @Override
        public void onClosed(Runnable listener) {
            closed.add(listener);
        }

        @Override
        public void fail(Throwable cause) {
            hear("failed " + cause);
        }
    }
}
