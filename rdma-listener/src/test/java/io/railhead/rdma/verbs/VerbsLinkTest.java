package io.railhead.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.os.verbs.RequiresVerbs;
import io.railhead.rdma.Awaiting;
import io.railhead.rdma.TestPages;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.TransferException.Reason;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A network that goes away and comes back. */
@RequiresVerbs
@Timeout(240)
final class VerbsLinkTest {
    private VerbsRig rig;
    private TestPages pages;

    @BeforeEach
    void start() throws IOException {
        rig = VerbsRig.start();
        pages = new TestPages(rig.fabric());
    }

    @AfterEach
    void nothingIsLeft() {
        rig.close();
        assertThat(pages.leases()).as("leases").isZero();
        assertThat(rig.stats().registeredBytes()).as("registered bytes").isZero();
        assertThat(rig.stats().sessions()).as("sessions").isZero();
        pages.close();
    }

    /**
     * Nothing may be sent meanwhile: on soft-RoCE a datagram that cannot leave the machine breaks
     * the device's own queue pair for connections, and it makes none any more until it is loaded
     * again.
     */
    @Test
    void aLinkThatGoesDownTurnsTheFabricOffAndOnAgain() throws Exception {
        VerbsPeer peer = rig.peer("ann");
        MemorySegment memory = rig.allocate(4096);
        int key = peer.register(memory);
        try {
            VerbsFaultsTest.run("ip", "link", "set", "v0", "down");
            Awaiting.until("the fabric is off", () -> !rig.fabric().health().usable());
            assertThat(rig.fabric().health().reason()).contains("down");
            assertThat(refusalOfATransfer(peer, memory, key)).isEqualTo(Reason.UNAVAILABLE);
        } finally {
            VerbsFaultsTest.run("ip", "link", "set", "v0", "up");
        }
        Awaiting.until("the fabric is on", () -> rig.fabric().health().usable());
        assertThat(refusalOfATransfer(peer, memory, key)).isNull();
        peer.close();
    }

    private @Nullable Reason refusalOfATransfer(VerbsPeer peer, MemorySegment memory,
            int key) {
        try {
            var _ = rig.fabric()
                    .begin(rig.sessions()
                            .resolve("ann", peer.sessionNumber(),
                                    memory.address(), memory.byteSize(), key));
            return null;
        } catch (TransferException e) {
            return e.reason();
        }
    }
}
