package io.railhead.rdma.verbs;

import static io.railhead.rdma.Awaiting.result;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.railhead.cache.memory.PageSlice;
import io.railhead.client.verbs.VerbsClient;
import io.railhead.os.verbs.RequiresVerbs;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.AnswerOrigin;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.channel.RequestView;
import io.railhead.rdma.Awaiting;
import io.railhead.rdma.TestPages;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.channel.RequestChannel;
import io.railhead.rdma.channel.RequestHandler;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Requests and answers over queue pairs: hits in one chain, and writes that are read. */
@RequiresVerbs
@Timeout(240)
final class VerbsRequestsTest {
    private static final int HIT = 4096;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** Serves GET from one page, and PUT by reading it all. */
    private final class Serving implements RequestHandler {
        private final @Nullable PageSlice[] slices = new PageSlice[1];
        private volatile long poller;
        private final AtomicInteger ends = new AtomicInteger();

        @Override
        public void handle(RequestView request, RequestChannel channel) {
            poller = Thread.currentThread().threadId();
            switch (request.operation()) {
                case GET -> hit(request, channel);
                case HEAD -> channel.answer(
                        Answer.described(request.id(), HIT, 0, "e", "", Map.of(),
                                AnswerOrigin.HIT));
                case PUT, UPLOAD_PART -> read(request, channel);
                case EXISTS, PREFIX, DELETE, DELETE_PREFIX, LEASE, TOUCH, USAGE, REMOVALS ->
                    channel.answer(Answer.declined(request.id(), "unsupported"));
            }
        }

        private void hit(RequestView request, RequestChannel channel) {
            slices[0] = new PageSlice(requireNonNull(object.lease().page().tryRetain()), 0, 0,
                    HIT);
            channel.deliver(
                    channel.session()
                            .window(request.bufferKey(), request.offset(), request.window()),
                    slices, 1, Answer.delivered(request.id(), 200, HIT, HIT, 0, 0, "e", "",
                            AnswerOrigin.HIT));
        }

        private void read(RequestView request, RequestChannel channel) {
            int id = request.id();
            int bytes = (int) request.window();
            Transfer transfer = rig.fabric()
                    .begin(channel.session()
                            .window(request.bufferKey(), request.offset(), bytes));
            var _ = transfer.read(pages.slice(0, bytes), 0).thenAccept(slice -> {
                try (slice) {
                    stored = TestPages.bytes(slice);
                }
                channel.answer(Answer.stored(id, bytes, "e", "", Map.of()));
            });
        }

        @Override
        public void cancel(int requestId, RequestChannel channel) {}

        @Override
        public void ended(RequestChannel channel) {
            ends.incrementAndGet();
        }
    }

    private final Serving handler = new Serving();
    private final byte[] bytes = new byte[HIT];
    private volatile byte[] stored = {};
    private VerbsRig rig;
    private TestPages pages;
    private PageSlice object;

    @BeforeEach
    void start() throws IOException {
        rig = new VerbsRig(VerbsRig.config(), VerbsRig.freshSessions(), handler);
        pages = new TestPages(rig.fabric());
        new Random(1).nextBytes(bytes);
        object = pages.of(bytes);
    }

    @AfterEach
    void nothingIsLeft() {
        rig.close();
        assertThat(pages.leases()).as("leases but the object's").isEqualTo(1);
        object.close();
        assertThat(rig.stats().registeredBytes()).isZero();
        assertThat(handler.ends.get()).isEqualTo(1);
        pages.close();
    }

    @Test
    void hitsArriveBeforeTheirAnswers() throws IOException {
        VerbsClient peer = rig.peer("ann");
        MemorySegment memory = rig.allocate(8 * HIT);
        int key = peer.register(memory);
        for (int i = 0; i < 50; i++) {
            memory.fill((byte) 0);
            Answer answer = peer.channel()
                    .call(Request.get(peer.channel().freshId(), "b", "k", key, HIT, HIT));
            assertThat(answer.status()).isEqualTo(200);
            assertThat(memory.asSlice(HIT, HIT).toArray(JAVA_BYTE)).isEqualTo(bytes);
        }
        // The answer overtakes the gateway's own completion.
        Awaiting.until("all are counted", () -> rig.stats().bytesWritten() == 50L * HIT);
    }

    @Test
    void moreRequestsThanCreditsAreAllServedAndAHitAllocatesLittle() throws IOException {
        VerbsClient peer = rig.peer("ann");
        int requests = 2000;
        int key = peer.register(rig.allocate(HIT));
        List<Request> batch = new ArrayList<>();
        for (int i = 0; i < requests; i++) {
            batch.add(Request.get(peer.channel().freshId(), "b", "k", key, 0, HIT));
        }
        List<CompletionStage<Answer>> answers = new ArrayList<>(
                peer.channel().send(batch.subList(0, requests / 2)));
        answers.forEach(answer -> assertThat(result(answer).status()).isEqualTo(200));
        long warm = THREADS.getThreadAllocatedBytes(handler.poller);
        peer.channel()
                .send(batch.subList(requests / 2, requests))
                .forEach(answer -> assertThat(result(answer).status()).isEqualTo(200));
        long each = (THREADS.getThreadAllocatedBytes(handler.poller) - warm) / (requests / 2);
        System.out.println("bytes allocated per hit on the poller: " + each);
        // The handler's own answer, slice, lease and window; nothing for a work request.
        assertThat(each).isLessThan(600);
    }

    @Test
    void aPutIsReadWhole() throws IOException {
        VerbsClient peer = rig.peer("ann");
        MemorySegment memory = rig.allocate(1 << 20);
        byte[] sent = new byte[1 << 20];
        new Random(2).nextBytes(sent);
        memory.copyFrom(MemorySegment.ofArray(sent));
        Answer answer = peer.channel()
                .call(Request.put(peer.channel().freshId(), "b", "k", peer.register(memory), 0,
                        sent.length, Map.of()));
        assertThat(answer.status()).isEqualTo(200);
        assertThat(Arrays.equals(stored, sent)).isTrue();
        assertThat(rig.stats().bytesRead()).isEqualTo(sent.length);
    }

    @Test
    void aDeregisteredWindowIsDeclinedAndTheSessionGoesOn() throws IOException {
        VerbsClient peer = rig.peer("ann");
        int key = peer.register(rig.allocate(HIT));
        Answer head = peer.channel().call(Request.head(peer.channel().freshId(), "b", "k"));
        assertThat(head.objectSize()).isEqualTo(HIT);
        peer.deregister(key);
        peer.ping();
        assertThat(peer.isOpen()).isTrue();
    }
}
