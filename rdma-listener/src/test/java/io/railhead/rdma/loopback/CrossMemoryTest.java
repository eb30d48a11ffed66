package io.railhead.rdma.loopback;

import static io.railhead.rdma.loopback.LoopbackRig.AMPLE;
import static io.railhead.rdma.loopback.LoopbackRig.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.rdma.FabricRig;
import io.railhead.rdma.SessionFabricContract;
import io.railhead.rdma.session.Message.Attach;
import io.railhead.rdma.session.Octets;
import io.railhead.rdma.session.Refusal;
import io.railhead.rdma.session.RefusedException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contract over memory that peers do not share, and who may have it attached to. */
class CrossMemoryTest extends SessionFabricContract {
    @TempDir
    Path folder;

    @Override
    protected FabricRig start() {
        return LoopbackRig.attachedIn(folder);
    }

    @Test
    void nothingIsAttachedToUnlessThatIsConfigured(@TempDir Path other) throws IOException {
        try (LoopbackRig rig = LoopbackRig.in(other); Arena arena = Arena.ofShared()) {
            LoopbackPeer peer = rig.peer("alice");
            assertRefused(peer, arena.allocate(100), arena.allocate(Octets.SIZE),
                    Refusal.NOT_ATTACHED);
            peer.ping();
        }
    }

    @Test
    void whoCannotWriteTheProofIntoTheMemoryIsRefused(@TempDir Path other) throws IOException {
        try (LoopbackRig rig = LoopbackRig.attachedIn(other); Arena arena = Arena.ofShared()) {
            LoopbackPeer peer = rig.peer("alice");
            MemorySegment memory = arena.allocate(100);
            MemorySegment said = arena.allocate(Octets.SIZE);
            MemorySegment written = arena.allocate(Octets.SIZE);
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
            LoopbackPeer peer = rig.peer("alice");
            MemorySegment proof = arena.allocate(Octets.SIZE);
            assertRefused(peer, arena.allocate(101), proof, Refusal.TOO_MANY_BYTES);
            assertRefused(() -> peer.attach(new Attach(-1, 2, proof.address()), proof),
                    Refusal.BAD_LENGTH);
            int key = peer.attach(arena.allocate(60), proof);
            assertRefused(peer, arena.allocate(60), proof, Refusal.TOO_MANY_BYTES);
            peer.deregister(key);
            peer.attach(arena.allocate(50), proof);
            peer.attach(arena.allocate(50), proof);
            assertRefused(peer, arena.allocate(1), proof, Refusal.TOO_MANY_BUFFERS);
        }
    }

    private static void assertRefused(LoopbackPeer peer, MemorySegment memory,
            MemorySegment proof, Refusal reason) {
        assertRefused(() -> peer.attach(memory, proof), reason);
    }

    private static void assertRefused(ThrowingCallable attaching, Refusal reason) {
        assertThatThrownBy(attaching)
                .isInstanceOfSatisfying(RefusedException.class,
                        e -> assertThat(e.reason()).isEqualTo(reason));
    }
}
