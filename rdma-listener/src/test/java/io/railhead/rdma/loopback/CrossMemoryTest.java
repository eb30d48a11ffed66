package io.railhead.rdma.loopback;

import static io.railhead.rdma.Awaiting.result;
import static io.railhead.rdma.loopback.LoopbackRig.AMPLE;
import static io.railhead.rdma.loopback.LoopbackRig.PATIENCE;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.cache.memory.PageSlice;
import io.railhead.client.loopback.LoopbackClient;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.message.Bytes32;
import io.railhead.protocol.message.Message.Attach;
import io.railhead.protocol.message.Message.Challenge;
import io.railhead.protocol.message.Message.Ping;
import io.railhead.protocol.message.Message.Pong;
import io.railhead.protocol.message.Message.Proof;
import io.railhead.protocol.message.Message.Refused;
import io.railhead.protocol.message.Message.Registered;
import io.railhead.protocol.message.Refusal;
import io.railhead.protocol.message.RefusedException;
import io.railhead.rdma.Awaiting;
import io.railhead.rdma.FabricRig;
import io.railhead.rdma.SessionFabricContract;
import io.railhead.rdma.TestBuffer;
import io.railhead.rdma.TestPages;
import io.railhead.rdma.TestPeer;
import io.railhead.rdma.TransferException.Reason;
import io.railhead.rdma.session.ClientSession;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contract over memory that peers do not share, and who may have it attached to. */
class CrossMemoryTest extends SessionFabricContract {
    /** Never mapped: below the least address that the kernel gives. */
    private static final long NOWHERE = 0x1000;

    @TempDir
    Path folder;

    @Override
    protected FabricRig start() {
        return LoopbackRig.attachedIn(folder);
    }

    @Test
    void nothingIsAttachedToUnlessThatIsConfigured(@TempDir Path other) throws IOException {
        try (LoopbackRig rig = LoopbackRig.in(other); Arena arena = Arena.ofShared()) {
            LoopbackClient peer = rig.peer("alice");
            assertRefused(peer, arena.allocate(100), arena.allocate(Bytes32.SIZE),
                    Refusal.NOT_ATTACHED);
            peer.ping();
        }
    }

    @Test
    void whoCannotWriteTheProofIntoTheMemoryIsRefused(@TempDir Path other) throws IOException {
        try (LoopbackRig rig = LoopbackRig.attachedIn(other); Arena arena = Arena.ofShared()) {
            LoopbackClient peer = rig.peer("alice");
            MemorySegment memory = arena.allocate(100);
            MemorySegment said = arena.allocate(Bytes32.SIZE);
            MemorySegment written = arena.allocate(Bytes32.SIZE);
            assertRefused(() -> peer.attach(
                    new Attach(memory.address(), 100, said.address()), written),
                    Refusal.NOT_ATTACHED);
            assertRefused(() -> peer.attach(new Attach(memory.address(), 100, 0), written),
                    Refusal.NOT_ATTACHED);
            peer.ping();
            assertThat(rig.stats().registeredBytes()).isZero();
        }
    }

    @Test
    void lengthsAndLimitsAreThoseOfAnyBuffer(@TempDir Path other) throws IOException {
        LoopbackConfig small = new LoopbackConfig(other.resolve("s"), 1, 1, 0, PATIENCE, 4, 2, 100,
                AMPLE).withCrossMemory();
        try (LoopbackRig rig = new LoopbackRig(small, LoopbackRig.freshSessions());
                Arena arena = Arena.ofShared()) {
            LoopbackClient peer = rig.peer("alice");
            MemorySegment proof = arena.allocate(Bytes32.SIZE);
            assertRefused(peer, arena.allocate(101), proof, Refusal.TOO_MANY_BYTES);
            for (long base : new long[]{-1, Long.MIN_VALUE}) {
                assertRefused(() -> peer.attach(new Attach(base, 2, proof.address()), proof),
                        Refusal.BAD_LENGTH);
            }
            int key = peer.attach(arena.allocate(60), proof);
            assertRefused(peer, arena.allocate(60), proof, Refusal.TOO_MANY_BYTES);
            peer.deregister(key);
            peer.attach(arena.allocate(50), proof);
            peer.attach(arena.allocate(50), proof);
            assertRefused(peer, arena.allocate(1), proof, Refusal.TOO_MANY_BUFFERS);
        }
    }

    @Test
    void whoSaysAnotherNonceIsRefused(@TempDir Path other) throws IOException {
        try (LoopbackRig rig = LoopbackRig.attachedIn(other);
                RawPeer peer = new RawPeer(rig.socket());
                Arena arena = Arena.ofShared()) {
            peer.prove(rig.open("alice"), LoopbackRig.KEY);
            MemorySegment proof = arena.allocate(Bytes32.SIZE);
            peer.send(new Attach(proof.address(), 1, proof.address()));
            Bytes32 nonce = ((Challenge) requireNonNull(peer.receive())).nonce();
            proof.copyFrom(MemorySegment.ofArray(nonce.bytes()));
            peer.send(new Proof(Bytes32.of(new byte[Bytes32.SIZE])));
            assertThat(peer.receive()).isEqualTo(new Refused(Refusal.NOT_ATTACHED));
        }
    }

    /** As verbs have it: its session ends, and again and again suspends its principal. */
    @Test
    void whoNamesMemoryThatIsNotThereIsSuspended(@TempDir Path other) throws Exception {
        try (LoopbackRig rig = LoopbackRig.attachedIn(other);
                TestPages pages = new TestPages(rig.fabric());
                Arena arena = Arena.ofShared()) {
            for (int i = 0; i < 5; i++) {
                assertThat(rig.sessions().isSuspended("alice")).isFalse();
                LoopbackClient peer = rig.peer("alice");
                MemorySegment proof = arena.allocate(Bytes32.SIZE);
                int key = peer.attach(new Attach(NOWHERE, 100, proof.address()), proof);
                var written = write(rig, pages, "alice", peer.sessionNumber(), NOWHERE, key);
                assertThat(Awaiting.failure(written)).isEqualTo(Reason.REMOTE_ACCESS);
                Awaiting.until("it ends", () -> !peer.isOpen());
            }
            assertThat(rig.sessions().isSuspended("alice")).isTrue();
            assertThat(rig.sessions().isSuspended("bob")).isFalse();
        }
    }

    /** Nothing of it moves, as where none of its pages ever comes. */
    @Test
    void memoryThatDoesNotAnswerHoldsNobodyUp(@TempDir Path other) throws IOException {
        TestHandler handler = new TestHandler();
        try (LoopbackRig rig = new LoopbackRig(LoopbackRig.config(other).withCrossMemory(),
                LoopbackRig.freshSessions(), handler);
                TestPages pages = new TestPages(rig.fabric());
                RawPeer peer = new RawPeer(rig.socket());
                Arena arena = Arena.ofShared()) {
            handler.object = () -> new PageSlice[]{pages.of(new byte[]{1, 2})};
            MemorySegment memory = arena.allocate(100);
            MemorySegment proof = arena.allocate(Bytes32.SIZE);
            ClientSession clientSession = rig.open("alice");
            peer.prove(clientSession, LoopbackRig.KEY);
            prove(peer, memory, proof);
            int key = ((Registered) requireNonNull(peer.receive())).key();
            CompletionStage<Void> written;
            CompletableFuture<Void> answers = new CompletableFuture<>();
            try {
                for (int i = 0; i < 2; i++) {
                    assertThat(rig.fabric().engine().blockingWorkers().trySubmit("alice", () -> {
                        answers.join();
                        return false;
                    })).isTrue();
                }
                written = write(rig, pages, "alice", clientSession.number(), memory.address() + 50,
                        key);
                peer.send(Request.get(1, "b", "hit/1", key, 0, 10));
                prove(peer, memory, proof);
                for (int i = 0; i < 3; i++) {
                    peer.send(new Ping(i));
                    assertThat(peer.receive()).isEqualTo(new Pong(i));
                }
                assertThat(written.toCompletableFuture()).isNotDone();
                assertThat(memory.toArray(JAVA_BYTE)).containsOnly(0);

                TestPeer bob = rig.connect("bob");
                TestBuffer others = bob.register(100);
                result(write(rig, pages, "bob", bob.sessionNumber(), others.address(),
                        others.key()));
            } finally {
                answers.complete(null);
            }
            assertThat(peer.receive()).isInstanceOf(Registered.class);
            assertThat(peer.receiveAnswers(1)).extracting(Answer::status).containsExactly(200);
            result(written);
            assertThat(memory.asSlice(0, 2).toArray(JAVA_BYTE)).containsExactly(1, 2);
            assertThat(memory.get(JAVA_BYTE, 50)).isEqualTo((byte) 3);
        }
    }

    private static CompletionStage<Void> write(LoopbackRig rig, TestPages pages, String principal,
            int session, long address, int key) {
        return rig.fabric()
                .begin(rig.sessions().resolve(principal, session, address, 10, key))
                .write(pages.of(new byte[]{3}), 0);
    }

    private static void prove(RawPeer peer, MemorySegment memory, MemorySegment proof)
            throws IOException {
        peer.send(new Attach(memory.address(), memory.byteSize(), proof.address()));
        Bytes32 nonce = ((Challenge) requireNonNull(peer.receive())).nonce();
        proof.copyFrom(MemorySegment.ofArray(nonce.bytes()));
        peer.send(new Proof(nonce));
    }

    private static void assertRefused(LoopbackClient peer, MemorySegment memory,
            MemorySegment proof, Refusal reason) {
        assertRefused(() -> peer.attach(memory, proof), reason);
    }

    private static void assertRefused(ThrowingCallable attaching, Refusal reason) {
        assertThatThrownBy(attaching)
                .isInstanceOfSatisfying(RefusedException.class,
                        e -> assertThat(e.reason()).isEqualTo(reason));
    }
}
