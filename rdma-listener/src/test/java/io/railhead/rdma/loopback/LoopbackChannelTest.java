package io.railhead.rdma.loopback;

import static io.railhead.rdma.loopback.LoopbackRig.AMPLE;
import static io.railhead.rdma.loopback.LoopbackRig.KEY;
import static io.railhead.rdma.loopback.LoopbackRig.PATIENCE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.cache.memory.PageSlice;
import io.railhead.client.channel.ChannelEndedException;
import io.railhead.client.channel.ClientChannel;
import io.railhead.client.loopback.LoopbackClient;
import io.railhead.os.Mapping;
import io.railhead.os.MemoryFile;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.EndedMessage;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.message.EndReason;
import io.railhead.protocol.message.Message;
import io.railhead.protocol.message.MessageHeader;
import io.railhead.protocol.message.Refusal;
import io.railhead.rdma.Awaiting;
import io.railhead.rdma.TestPages;
import io.railhead.rdma.session.ClientSession;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What docs/native-channel.md promises, a test each, on one set-up: hence the length. */
@Timeout(120)
class LoopbackChannelTest {
    private static final int MIB = 1 << 20;
    private static final int CREDITS = 64;

    @TempDir
    Path folder;

    private final TestHandler handler = new TestHandler();
    private LoopbackRig rig;
    private TestPages pages;
    private LoopbackClient peer;
    private Mapping mapping;
    private int buffer;

    @BeforeEach
    void start() throws IOException {
        start(LoopbackRig.config(folder));
    }

    private void start(LoopbackConfig config) throws IOException {
        rig = new LoopbackRig(config, LoopbackRig.freshSessions(), handler);
        pages = new TestPages(rig.fabric());
        peer = rig.peer("ann");
        try (MemoryFile file = MemoryFile.create("test", 32L * MIB)) {
            mapping = file.map();
            buffer = peer.register(file, mapping.segment().address());
        }
    }

    @AfterEach
    void stop() {
        rig.close();
        mapping.close();
        assertThat(rig.stats().registeredBytes()).isZero();
        assertThat(rig.stats().sessions()).isZero();
        assertThat(handler.ended.values()).allMatch(times -> times == 1);
        pages.close();
    }

    private void restart(LoopbackConfig config) throws IOException {
        stop();
        start(config);
    }

    private Request hit(int id, long offset, long window) {
        return Request.get(id, "b", "hit/1", buffer, offset, window);
    }

    private Request held(int id) {
        return Request.get(id, "b", "held/" + id, buffer, 0, 100);
    }

    private Request heldPut(int id) {
        return Request.put(id, "b", "held/put", buffer, 0, 100, Map.of());
    }

    private static byte[] random(int bytes) {
        byte[] random = new byte[bytes];
        new Random(bytes).nextBytes(random);
        return random;
    }

    private byte[] memory(long offset, int bytes) {
        return mapping.segment().asSlice(offset, bytes).toArray(ValueLayout.JAVA_BYTE);
    }

    @Test
    void aHitLiesInItsWindowWhenTheAnswerComes() throws IOException {
        byte[] bytes = random(4096);
        handler.object = () -> new PageSlice[]{pages.of(Arrays.copyOf(bytes, 1000)),
                pages.of(Arrays.copyOfRange(bytes, 1000, 4096))};
        for (int id = 0; id < 100; id++) {
            long offset = id * 5000L;
            Answer answer = peer.channel().call(hit(id, offset, 5000));
            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.id()).isEqualTo(id);
            assertThat(answer.bytesMoved()).isEqualTo(4096);
            assertThat(memory(offset, 4096)).isEqualTo(bytes);
            assertThat(memory(offset + 4096, 904)).containsOnly(0);
        }
        assertThat(rig.stats().transfers()).isEqualTo(100);
        assertThat(rig.stats().bytesWritten()).isEqualTo(100 * 4096);
    }

    @Test
    void aLargeHitIsCopiedByTheWorkersAndLiesThereWhenTheAnswerComes() throws IOException {
        byte[] bytes = random(MIB);
        handler.object = () -> {
            @Nullable
            PageSlice[] slices = new PageSlice[10];
            Arrays.setAll(slices, i -> i < 8 ? pages.of(bytes) : null);
            return slices;
        };
        assertThat(peer.channel().call(hit(1, 77, 9 * MIB)).bytesMoved()).isEqualTo(8 * MIB);
        for (int i = 0; i < 8; i++) {
            assertThat(memory(77 + (long) i * MIB, MIB)).isEqualTo(bytes);
        }
        assertThat(memory(77 + 8 * MIB, MIB)).containsOnly(0);
    }

    @Test
    void manyInFlightAreAnsweredEachOnce() throws IOException {
        byte[] bytes = random(512);
        handler.object = () -> new PageSlice[]{pages.of(bytes)};
        Set<Integer> answered = new HashSet<>();
        for (int round = 0; round < 5; round++) {
            List<Request> batch = new ArrayList<>();
            for (int i = 0; i < 3 * CREDITS; i++) {
                batch.add(hit(i, i * 512L, 512));
            }
            for (CompletionStage<Answer> stage : peer.channel().send(batch)) {
                Answer answer = stage.toCompletableFuture().join();
                assertThat(answer.status()).isEqualTo(200);
                answered.add(answer.id());
                assertThat(memory(answer.id() * 512L, 512)).isEqualTo(bytes);
            }
        }
        assertThat(answered).hasSize(3 * CREDITS);
        pages.recycle();
    }

    @Test
    void callersOnManyThreadsGetTheirOwnAnswers() throws Exception {
        AtomicInteger wrong = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 8; t++) {
            int first = t * 1000;
            threads.add(Thread.ofPlatform().start(() -> {
                try {
                    for (int i = 0; i < 300; i++) {
                        String key = "none/" + (first + i);
                        Answer answer = i % 3 == 0
                                ? peer.channel()
                                        .send(Request.head(first + i, "b", key))
                                        .toCompletableFuture()
                                        .join()
                                : peer.channel().call(Request.head(first + i, "b", key));
                        if (answer.status() != 404 || !answer.message().equals(key)) {
                            wrong.incrementAndGet();
                        }
                    }
                } catch (IOException | RuntimeException e) {
                    wrong.addAndGet(1000);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(wrong).hasValue(0);
    }

    @Test
    void requestsBeyondTheCreditsWaitTheirTurn() throws IOException {
        List<CompletionStage<Answer>> stages = new ArrayList<>();
        for (int id = 0; id < CREDITS + 10; id++) {
            stages.add(peer.channel().send(held(id)));
        }
        Awaiting.until("all credits are used", () -> handler.held.size() == CREDITS);
        peer.ping();
        assertThat(handler.held).hasSize(CREDITS);
        handler.held.remove().decline("enough");
        Awaiting.until("the next is sent", () -> handler.held.size() == CREDITS);
        while (stages.stream().anyMatch(stage -> !stage.toCompletableFuture().isDone())) {
            TestHandler.Held next = handler.held.poll();
            if (next != null) {
                next.decline("enough");
            }
        }
        assertThat(stages).allMatch(
                stage -> stage.toCompletableFuture().join().code().equals("enough"));
    }

    @Test
    void aRequestIsServedWhileABufferIsRegisteredAndLetGo() throws IOException {
        CompletionStage<Answer> before = peer.channel().send(held(1));
        Awaiting.until("it is there", () -> !handler.held.isEmpty());
        try (MemoryFile file = MemoryFile.create("test", 4096)) {
            int key = peer.register(file, 1 << 20);
            handler.held.remove().decline("later");
            peer.deregister(key);
        }
        assertThat(before.toCompletableFuture().join().code()).isEqualTo("later");
        assertThat(peer.channel().call(Request.head(2, "b", "k")).status()).isEqualTo(404);
    }

    @Test
    void aCancelledRequestIsAnsweredOnceAsItsHandlerSays() throws IOException {
        CompletionStage<Answer> stage = peer.channel().send(held(5));
        Awaiting.until("it is there", () -> !handler.held.isEmpty());
        peer.channel().cancel(5);
        peer.channel().cancel(5);
        assertThat(stage.toCompletableFuture().join().code()).isEqualTo(Answer.CANCELLED);
        assertThat(stage.toCompletableFuture().join().status()).isZero();
        peer.channel().cancel(5);
        peer.channel().cancel(99);
        peer.ping();
        assertThat(handler.cancelled).containsExactly(5);
    }

    @Test
    void aRequestThatWasNeverSentIsCancelledHere() throws IOException {
        List<Request> batch = new ArrayList<>();
        for (int id = 0; id <= CREDITS; id++) {
            batch.add(held(id));
        }
        List<CompletionStage<Answer>> stages = peer.channel().send(batch);
        peer.channel().cancel(CREDITS);
        assertThat(stages.getLast().toCompletableFuture().join().code())
                .isEqualTo(Answer.CANCELLED);
        peer.ping();
        assertThat(handler.cancelled).isEmpty();
    }

    @Test
    void aRevokedSessionSaysSoOfEachRequestAndAnOpenWriteIsUnknown() throws IOException {
        CompletionStage<Answer> get = peer.channel().send(held(1));
        CompletionStage<Answer> put = peer.channel().send(heldPut(2));
        Awaiting.until("they are there", () -> handler.held.size() == 2);
        rig.sessions().revoke("ann");
        assertThat(get.toCompletableFuture().join().code()).isEqualTo("revoked");
        assertThat(failure(put).isOutcomeUnknown()).isTrue();
        assertThat(failure(put).reason()).isEqualTo(EndReason.REVOKED);
        Awaiting.until("the peer hears", () -> !peer.isOpen());
        assertThat(peer.channel().endReason()).isEqualTo(EndReason.REVOKED);
        assertThatThrownBy(() -> peer.channel().call(held(3)))
                .isInstanceOf(ChannelEndedException.class);
        assertThat(failure(peer.channel().send(heldPut(4))).isOutcomeUnknown()).isFalse();
        // What comes too late is dropped.
        handler.held.forEach(held -> held.decline("late"));
        assertThat(handler.ended).hasSize(1);
    }

    @Test
    void aClosingGatewayEndsEveryChannelWithItsReason() {
        CompletionStage<Answer> get = peer.channel().send(held(1));
        Awaiting.until("it is there", () -> handler.held.size() == 1);
        rig.fabric().close();
        assertThat(get.toCompletableFuture().join().code()).isEqualTo("shutting_down");
        assertThat(peer.channel().endReason()).isEqualTo(EndReason.SHUTTING_DOWN);
    }

    @Test
    void whoSaysByeWithRequestsOutstandingHearsOfNone() {
        CompletionStage<Answer> get = peer.channel().send(held(1));
        CompletionStage<Answer> put = peer.channel().send(heldPut(2));
        Awaiting.until("they are there", () -> handler.held.size() == 2);
        peer.close();
        assertThat(failure(get).isOutcomeUnknown()).isFalse();
        assertThat(failure(put).isOutcomeUnknown()).isTrue();
        Awaiting.until("the handler hears", () -> handler.ended.size() == 1);
    }

    @Test
    void aPeerThatSaysNothingElseStaysAliveAndASilentOneDoesNot() throws IOException {
        LoopbackConfig often = LoopbackRig.config(folder);
        restart(new LoopbackConfig(often.socket(), 1, 1, 0, PATIENCE, 16, 9, AMPLE, AMPLE, 9,
                Duration.ofMillis(60)));
        try (RawPeer silent = new RawPeer(rig.socket())) {
            silent.prove(rig.open("bob"), KEY);
            silent.awaitEnd();
            assertThat(silent.ended()).extracting(EndedMessage::reason)
                    .containsExactly(EndReason.SILENT);
        }
        try (RawPeer silent = new RawPeer(rig.socket())) {
            silent.prove(rig.open("bob"), KEY);
            silent.awaitEnd();
        }
        assertThat(peer.isOpen()).isTrue();
        peer.ping();
    }

    @ParameterizedTest
    @ValueSource(strings = {"UNKNOWN_KEY", "OUT_OF_BOUNDS"})
    void aWindowThatIsNotTheBuffersIsRefusedAndNothingIsWritten(String reason)
            throws IOException {
        handler.object = () -> {
            throw new AssertionError("no slice may be taken");
        };
        Request wrong = reason.equals("UNKNOWN_KEY")
                ? Request.get(1, "b", "hit/", buffer + 1, 0, 100)
                : hit(1, 32L * MIB - 99, 100);
        assertThat(peer.channel().call(wrong).message()).isEqualTo(reason);
        assertThat(peer.channel().call(hit(2, -1, 100)).message()).isEqualTo("OUT_OF_BOUNDS");
        assertThat(peer.channel().call(hit(3, 0, -1)).message()).isEqualTo("OUT_OF_BOUNDS");
        assertThat(peer.channel().call(hit(4, 0, 0)).message()).isEqualTo("OUT_OF_BOUNDS");
        assertThat(memory(0, MIB)).containsOnly(0);
    }

    @Test
    void slicesThatDoNotFitTheWindowAreNotWritten() throws IOException {
        handler.object = () -> new PageSlice[]{pages.of(random(101))};
        Answer answer = peer.channel().call(hit(1, 0, 100));
        assertThat(answer.status()).isZero();
        assertThat(answer.code()).isEqualTo("out_of_bounds");
        assertThat(memory(0, 200)).containsOnly(0);
    }

    @Test
    void aHandlerThatThrowsEndsItsChannelAndNoOther() throws IOException {
        LoopbackClient other = rig.peer("bob");
        assertThatThrownBy(() -> peer.channel().call(Request.put(1, "b", "bad", 1, 0, 1, Map.of())))
                .isInstanceOf(ChannelEndedException.class);
        assertThat(peer.channel().endReason()).isEqualTo(EndReason.UNAVAILABLE);
        other.ping();
    }

    @Test
    void aHandlerThatFailsToHearTheEndDoesNotKeepTheMemory() {
        handler.failsToEnd = true;
        peer.close();
        Awaiting.until("memory is let go", () -> rig.stats().registeredBytes() == 0);
        Awaiting.until("the connection is gone", () -> rig.stats().sessions() == 0);
    }

    @Test
    void moreRequestsThanCreditsAnIdTwiceAndMalformedRecordsEndTheSession() throws IOException {
        Request[] tooMany = new Request[40];
        Arrays.setAll(tooMany, this::held);
        Request[] more = new Request[40];
        Arrays.setAll(more, i -> held(100 + i));
        ByteBuffer malformed = RawPeer.message(held(1));
        malformed.put(MessageHeaderBytes.HEADER + 2, (byte) 9);
        ByteBuffer cut = RawPeer.message(held(1));
        cut.putShort(MessageHeaderBytes.HEADER, (short) 4000);
        // The payload of a message that is 8 bytes longer than the longest.
        ByteBuffer tooLong = RawPeer.message(held(1));
        tooLong.putShort(MessageHeaderBytes.LENGTH,
                (short) MessageHeader.MAX_MESSAGE_BYTES);
        for (ByteBuffer[] said : new ByteBuffer[][]{
                {RawPeer.message(tooMany), RawPeer.message(more)},
                {RawPeer.message(held(1), held(1))}, {malformed}, {cut}, {tooLong}}) {
            try (RawPeer raw = new RawPeer(rig.socket())) {
                raw.prove(rig.open("bob"), KEY);
                for (ByteBuffer message : said) {
                    raw.send(message);
                }
                raw.awaitEnd();
                assertThat(raw.ended()).isNotEmpty()
                        .allMatch(endedMessage -> endedMessage.reason() == EndReason.PROTOCOL);
            }
        }
        assertThat(rig.stats().refused(Refusal.PROTOCOL)).isEqualTo(5);
        peer.ping();
    }

    /** Where a message's first record lies. */
    private static final class MessageHeaderBytes {
        static final int HEADER = 8;
        static final int LENGTH = 6;
    }

    @Test
    void requestsAreNotHeardBeforeTheProof() throws IOException {
        try (RawPeer raw = new RawPeer(rig.socket())) {
            raw.send(held(1));
            assertThat(raw.receive()).isNull();
        }
        assertThat(handler.held).isEmpty();
    }

    @Test
    void aMessageThatComesByteByByteIsServed() throws IOException {
        try (RawPeer raw = new RawPeer(rig.socket())) {
            raw.prove(rig.open("bob"), KEY);
            ByteBuffer message = RawPeer.message(Request.head(1, "b", "x"),
                    Request.head(2, "b", "y"));
            while (message.hasRemaining()) {
                raw.send(ByteBuffer.wrap(new byte[]{message.get()}));
            }
            assertThat(raw.receiveAnswers(2)).extracting(Answer::id).containsExactly(1, 2);
            raw.send(new Message.Bye());
            raw.awaitEnd();
            assertThat(raw.ended()).isEmpty();
        }
    }

    @Test
    void whoDoesNotReadItsAnswersIsClosedAndHarmsNobody() throws IOException {
        try (RawPeer raw = new RawPeer(rig.socket())) {
            ClientSession clientSession = rig.open("bob");
            raw.prove(clientSession, KEY);
            assertThatThrownBy(() -> {
                while (true) {
                    raw.send(Request.head(1, "b", "x".repeat(900)));
                }
            }).isInstanceOf(IOException.class);
        }
        peer.ping();
    }

    @Test
    void aPeerKilledWithDeliveriesInFlightLeavesNothing() throws IOException {
        byte[] bytes = random(MIB);
        handler.object = () -> {
            @Nullable
            PageSlice[] slices = new PageSlice[16];
            Arrays.setAll(slices, _ -> pages.of(bytes));
            return slices;
        };
        for (int id = 0; id < 4; id++) {
            var _ = peer.channel().send(hit(id, 0, 16 * MIB));
        }
        peer.drop();
        Awaiting.until("the session ends", () -> rig.stats().sessions() == 0);
        Awaiting.until("leases end", () -> pages.leases() == 0);
        Awaiting.until("memory is let go", () -> rig.stats().registeredBytes() == 0);
    }

    @Test
    void anIdInUseAndARequestThatFitsNoMessageAreTheCallersErrors() {
        var _ = peer.channel().send(held(1));
        assertThatThrownBy(() -> peer.channel().send(held(1)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> peer.channel().send(Request.head(2, "b", "k".repeat(4100))))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void whatDependsOnAnAnswerMustNotWaitForAnother() {
        ClientChannel channel = peer.channel();
        CompletionStage<Answer> stage = channel.send(held(1))
                .thenApply(first -> {
                    try {
                        return channel.call(Request.head(2, "b", "x"));
                    } catch (IOException e) {
                        throw new AssertionError(e);
                    }
                });
        Awaiting.until("it is there", () -> !handler.held.isEmpty());
        handler.held.remove().decline("now");
        assertThatThrownBy(() -> stage.toCompletableFuture().join())
                .hasCauseInstanceOf(IllegalStateException.class);
    }

    private static ChannelEndedException failure(CompletionStage<Answer> stage) {
        try {
            Answer answer = stage.toCompletableFuture().join();
            throw new AssertionError("answered: " + answer);
        } catch (CompletionException e) {
            return (ChannelEndedException) requireNonNull(e.getCause());
        }
    }
}
