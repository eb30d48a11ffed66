package io.railhead.rdma.verbs;

import static io.railhead.rdma.Awaiting.failure;
import static io.railhead.rdma.Awaiting.result;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.os.verbs.RequiresVerbs;
import io.railhead.rdma.Awaiting;
import io.railhead.rdma.TestPages;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.TransferException.Reason;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A network that goes away and comes back. */
@RequiresVerbs
@Timeout(240)
final class VerbsLinkTest {
    private static final int LENGTH = 4 << 20;
    private static final Duration RETRY = Duration.ofSeconds(5);

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

    @Test
    void aLinkThatGoesDownTurnsTheFabricOffAndOnAgain() throws Exception {
        VerbsPeer peer = rig.peer("ann");
        MemorySegment memory = rig.allocate(LENGTH);
        int key = peer.register(memory);
        Transfer transfer = rig.fabric()
                .begin(rig.sessions()
                        .resolve("ann", peer.sessionNumber(), memory.address(), LENGTH, key));
        List<CompletionStage<Void>> writes = new ArrayList<>();
        VerbsFaultsTest.run("ip", "link", "set", "v0", "down");
        try {
            Awaiting.until("the fabric is off", () -> !rig.fabric().health().usable());
            writes.addAll(VerbsFaultsTest.writeAll(pages, transfer, LENGTH));
            byte[] atFence;
            result(transfer.fence());
            assertThat(pages.leases()).isZero();
            atFence = memory.toArray(JAVA_BYTE);
            for (CompletionStage<Void> write : writes) {
                assertThat(failure(write)).isIn(null, Reason.FENCED, Reason.PEER_GONE);
            }
            VerbsFaultsTest.run("ip", "link", "set", "v0", "up");
            Awaiting.until("the fabric is on", () -> rig.fabric().health().usable());
            assertThat(memory.toArray(JAVA_BYTE)).isEqualTo(atFence);
        } finally {
            VerbsFaultsTest.run("ip", "link", "set", "v0", "up");
        }
        // Routes come back a little later than the link.
        Awaiting.until("a peer connects again", () -> {
            try {
                rig.peer("bob", RETRY).ping();
                return true;
            } catch (IOException _) {
                return false;
            }
        });
    }
}
