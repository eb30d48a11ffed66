package io.railhead.rdma.verbs;

import static io.railhead.rdma.Awaiting.failure;
import static io.railhead.rdma.Awaiting.result;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.railhead.client.verbs.SessionEndedException;
import io.railhead.client.verbs.VerbsClient;
import io.railhead.os.adapter.QueuePairConfig;
import io.railhead.os.verbs.RequiresVerbs;
import io.railhead.protocol.message.EndReason;
import io.railhead.rdma.Awaiting;
import io.railhead.rdma.TestPages;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.TransferException.Reason;
import io.railhead.rdma.channel.RequestHandler;
import io.railhead.rdma.session.ClientSession;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A network that goes away and comes back. */
@RequiresVerbs
@Timeout(240)
final class VerbsLinkTest {
    private static final int LENGTH = 4 << 20;

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
        VerbsClient peer = rig.peer("ann");
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

    @Test
    void transfersOfALinkThatGoesDownFailAndNewSessionsWorkOnceItIsUp() throws Exception {
        VerbsClient peer = rig.peer("ann");
        MemorySegment memory = rig.allocate(LENGTH);
        Transfer transfer = transfer("ann", peer, memory, peer.register(memory));
        List<CompletionStage<Void>> writes;
        try {
            VerbsFaultsTest.run("ip", "link", "set", "v0", "down");
            writes = VerbsFaultsTest.writeAll(pages, transfer, LENGTH);
            for (CompletionStage<Void> write : writes) {
                assertThat(failure(write)).isEqualTo(Reason.PEER_GONE);
            }
            Awaiting.until("no lease is left", () -> pages.leases() == 0);
        } finally {
            VerbsFaultsTest.run("ip", "link", "set", "v0", "up");
        }
        Awaiting.until("the fabric is on", () -> rig.fabric().health().usable());
        Awaiting.until("the peer hears of its end", () -> !peer.isOpen());

        bytesArrive(rig.peer("bob"), 3);
    }

    @Test
    void transfersSurviveALinkThatIsDownForAMoment() throws Exception {
        VerbsClient peer = rig.peer("bob");
        MemorySegment memory = rig.allocate(LENGTH);
        Transfer transfer = transfer("bob", peer, memory, peer.register(memory));
        List<CompletionStage<Void>> writes = VerbsFaultsTest.writeAll(pages, transfer, LENGTH);
        VerbsFaultsTest.run("ip", "link", "set", "v0", "down");
        VerbsFaultsTest.run("ip", "link", "set", "v0", "up");

        writes.forEach(Awaiting::result);
        for (int at = 0; at < LENGTH; at += 1 << 20) {
            assertThat(memory.asSlice(at, 1 << 20)
                    .mismatch(memory.asSlice(0, 1 << 20))).isEqualTo(-1);
        }
        Awaiting.until("the fabric is on", () -> rig.fabric().health().usable());
        bytesArrive(peer, 4);
    }

    private void bytesArrive(VerbsClient bob, int seed) throws IOException {
        MemorySegment memory = rig.allocate(64 << 10);
        byte[] bytes = new byte[64 << 10];
        new Random(seed).nextBytes(bytes);
        result(transfer("bob", bob, memory, bob.register(memory)).write(pages.of(bytes), 0));
        assertThat(memory.toArray(JAVA_BYTE)).isEqualTo(bytes);
    }

    /** Held until the peer is given up for lost, which takes longer than a fence waits. */
    @Test
    void aFenceThatCanWaitNoLongerBreaksTheConnectionAndTheBufferStaysAsItIs() throws Exception {
        try (VerbsRig patient = new VerbsRig(
                VerbsRig.config().with(QueuePairConfig.DEFAULT.withAckTimeout(20)),
                VerbsRig.freshSessions(), RequestHandler.NONE)) {
            TestPages theirs = TestPages.few(patient.fabric());
            ClientSession clientSession = patient.open("ann");
            VerbsClient peer = VerbsClient.connect(patient.peerConfig(), patient.gateway(),
                    clientSession.id(), VerbsRig.KEY);
            MemorySegment memory = rig.allocate(LENGTH);
            Transfer transfer = patient.fabric()
                    .begin(patient.sessions()
                            .resolve("ann", peer.sessionNumber(), memory.address(), LENGTH,
                                    peer.register(memory)));
            byte[] atFence;
            VerbsFaultsTest.run("tc", "qdisc", "add", "dev", "v0", "root", "netem", "loss",
                    "100%");
            try {
                long before = sentPackets();
                List<CompletionStage<Void>> writes = VerbsFaultsTest.writeAll(theirs, transfer,
                        LENGTH);
                Awaiting.until("some of it is posted", () -> sentPackets() > before);
                result(transfer.fence());
                assertThat(theirs.leases()).isZero();
                atFence = memory.toArray(JAVA_BYTE);
                for (CompletionStage<Void> write : writes) {
                    assertThat(failure(write)).isEqualTo(Reason.FENCED);
                }
            } finally {
                VerbsFaultsTest.run("tc", "qdisc", "del", "dev", "v0", "root");
            }
            bytesArrive(rig.peer("bob"), 7);
            assertThat(memory.toArray(JAVA_BYTE)).isEqualTo(atFence);
            peer.drop();
            assertThat(catchThrowableOfType(SessionEndedException.class, () -> VerbsClient
                    .connect(patient.peerConfig(), patient.gateway(), clientSession.id(),
                            VerbsRig.KEY))
                    .ended()
                    .reason()).isEqualTo(EndReason.FENCED);
            theirs.close();
        }
    }

    /** By all soft-RoCE devices, into a network that may lose them. */
    private static long sentPackets() {
        try (Stream<Path> devices = Files.list(Path.of("/sys/class/infiniband"))) {
            return devices.map(device -> device.resolve("ports/1/hw_counters/sent_pkts"))
                    .filter(Files::exists)
                    .mapToLong(VerbsLinkTest::number)
                    .sum();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long number(Path file) {
        try {
            return Long.parseLong(Files.readString(file).strip());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Transfer transfer(String principal, VerbsClient peer, MemorySegment memory, int key) {
        return rig.fabric()
                .begin(rig.sessions()
                        .resolve(principal, peer.sessionNumber(), memory.address(),
                                memory.byteSize(), key));
    }

    private @Nullable Reason refusalOfATransfer(VerbsClient peer, MemorySegment memory,
            int key) {
        try {
            var _ = transfer("ann", peer, memory, key);
            return null;
        } catch (TransferException e) {
            return e.reason();
        }
    }
}
