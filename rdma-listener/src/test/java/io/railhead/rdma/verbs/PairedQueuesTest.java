package io.railhead.rdma.verbs;

import static io.railhead.rdma.Awaiting.failure;
import static io.railhead.rdma.Awaiting.result;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.railhead.cache.memory.PageSlice;
import io.railhead.os.adapter.QueuePairConfig;
import io.railhead.os.adapter.QueuePairEnd;
import io.railhead.os.verbs.Completions;
import io.railhead.os.verbs.RequiresVerbs;
import io.railhead.protocol.message.EndReason;
import io.railhead.rdma.Awaiting;
import io.railhead.rdma.QueuePairState;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.TestPages;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.TransferException.Reason;
import io.railhead.rdma.channel.RequestHandler;
import io.railhead.rdma.pairing.PairRequest;
import io.railhead.rdma.pairing.PairedSession;
import io.railhead.rdma.pairing.Pairing;
import io.railhead.rdma.pairing.PairingException;
import io.railhead.rdma.pairing.StagingArea;
import io.railhead.rdma.session.ClientSessions;
import io.railhead.rdma.session.PeerSession;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Queue pairs that no rdma_cm made: what they move, and how each ends alone. */
@RequiresVerbs
@Timeout(240)
final class PairedQueuesTest {
    private static final int LENGTH = 300_000;
    private static final int COOKIE = 0xC0FFEE01;
    private static final int SEQUENCE = 0xABCDEF;
    private static final long STAGING_BYTES = 1 << 20;
    /** Longer than any test takes, but for the one of what is idle. */
    private static final Duration NEVER = Duration.ofHours(1);
    private static final Duration IDLE = Duration.ofMinutes(1);

    private ClientSessions clientSessions;
    private VerbsRig rig;
    private TestPages pages;
    private final List<PairedPeer> peers = new ArrayList<>();

    @BeforeEach
    void start() throws IOException {
        start(NEVER);
    }

    private void start(Duration idle) throws IOException {
        clientSessions = new ClientSessions(VerbsRig.PATIENCE, 100, 3);
        // A lost peer shows in a second, and not in fifteen.
        rig = new VerbsRig(VerbsRig.config()
                .with(new QueuePairConfig(128, 16, 16, 16, 14, 1, 3, 12,
                        QueuePairConfig.DEFAULT.trafficClass(),
                        QueuePairConfig.DEFAULT.serviceLevel(), 4096))
                .with(new VerbsFabricConfig.Pairs(idle, STAGING_BYTES)),
                clientSessions, RequestHandler.NONE);
        pages = new TestPages(rig.fabric());
    }

    @AfterEach
    void nothingIsLeft() throws IOException {
        rig.close();
        for (PairedPeer peer : peers) {
            peer.close();
        }
        assertThat(pages.leases()).as("leases").isZero();
        assertThat(rig.stats().sessions()).as("sessions").isZero();
        assertThat(rig.stats().queuePairs().values()).as("queue pairs").containsOnly(0L);
        assertThat(clientSessions.open()).isZero();
        pages.close();
    }

    private PairedPeer peer() throws IOException {
        PairedPeer peer = new PairedPeer(VerbsRig.PEER, SEQUENCE);
        peers.add(peer);
        return peer;
    }

    private Pairing pairing() {
        return rig.fabric().pairing().orElseThrow();
    }

    private PairedSession pair(String principal, QueuePairEnd end,
            PairRequest.@Nullable Staging staging) {
        return result(pairing().pair(new PairRequest(principal, end, VerbsRig.GATEWAY, staging)));
    }

    private PairedSession pair(String principal, PairedPeer peer) throws IOException {
        PairedSession pairedSession = pair(principal, peer.own(), null);
        peer.connect(pairedSession.own());
        return pairedSession;
    }

    private PairingException.Reason refusal(String principal, QueuePairEnd end,
            PairRequest.@Nullable Staging staging) {
        CompletionStage<PairedSession> asked = pairing()
                .pair(new PairRequest(principal, end, VerbsRig.GATEWAY, staging));
        CompletionException failed = catchThrowableOfType(CompletionException.class,
                () -> asked.toCompletableFuture().join());
        return ((PairingException) requireNonNull(failed.getCause())).reason();
    }

    private static byte[] random(int seed, int length) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    @Test
    void itsQueuePairIsCountedUntilItIsGone() throws IOException {
        PairedSession pairedSession = pair("ann", peer());
        assertThat(rig.stats().queuePairs()).containsEntry(QueuePairState.OPEN, 1L);
        pairedSession.end(EndReason.PEER_GONE);
        Awaiting.until("it is gone", () -> rig.stats()
                .queuePairs()
                .values()
                .stream()
                .allMatch(count -> count == 0));
    }

    private void bytesMoveBothWays(String principal, PairedSession pairedSession, PairedPeer peer,
            int seed)
            throws IOException {
        MemorySegment memory = rig.allocate(LENGTH);
        int key = peer.register(memory);
        byte[] bytes = random(seed, LENGTH);
        RemoteBuffer window = pairing().require(principal, pairedSession.session().id())
                .window(memory.address(), LENGTH, key);
        Transfer there = rig.fabric().begin(window);
        result(there.write(pages.of(bytes), 0));
        assertThat(memory.toArray(JAVA_BYTE)).isEqualTo(bytes);
        try (PageSlice landed = result(rig.fabric()
                .begin(window)
                .read(pages.slice(0, LENGTH), 0))) {
            assertThat(TestPages.bytes(landed)).isEqualTo(bytes);
        }
        result(there.fence());
    }

    @Test
    void bytesMoveBothWaysAndACookieFollowsThem() throws IOException {
        PairedPeer peer = peer();
        PairedSession pairedSession = pair("ann", peer);
        assertThat(pairedSession.own().packetSequence()).isPositive();
        assertThat(pairedSession.own().gid()).isEqualTo(VerbsRig.GATEWAY);
        assertThat(rig.stats().sessions()).isOne();
        bytesMoveBothWays("ann", pairedSession, peer, 1);

        MemorySegment memory = rig.allocate(LENGTH);
        RemoteBuffer window = pairedSession.window(memory.address(), LENGTH, peer.register(memory));
        peer.postReceive();
        assertThat(peer.hasHeardNothing()).isTrue();
        byte[] bytes = random(2, LENGTH);
        var _ = rig.fabric().begin(window).write(pages.of(bytes), 0);
        CompletionStage<Void> told = pairedSession.announce(window, COOKIE);
        assertThat(peer.awaitImmediate()).isEqualTo(COOKIE);
        assertThat(memory.toArray(JAVA_BYTE)).as("before the cookie").isEqualTo(bytes);
        result(told);
    }

    @Test
    void aSessionIsItsPrincipalsAloneAndOverOnceItIsEnded() throws IOException {
        PairedPeer peer = peer();
        PairedSession pairedSession = pair("ann", peer);
        String id = pairedSession.session().id();
        assertThat(reason(() -> pairing().require("bob", id))).isEqualTo(Reason.FOREIGN_SESSION);
        assertThat(reason(() -> pairing().require("ann", "0".repeat(32))))
                .isEqualTo(Reason.UNKNOWN_SESSION);
        assertThat(reason(
                () -> clientSessions.resolve("ann", pairedSession.session().number(), 4096, 1, 7)))
                .as("by another dialect")
                .isEqualTo(Reason.UNKNOWN_KEY);
        assertThat(reason(() -> pairedSession.window(-1, 2, 7))).isEqualTo(Reason.OUT_OF_BOUNDS);
        assertThat(reason(() -> pairedSession.window(4096, 0, 7))).isEqualTo(Reason.OUT_OF_BOUNDS);
        RemoteBuffer before = pairedSession.window(4096, 1, 7);

        pairedSession.end(EndReason.PEER_GONE);
        assertThat(reason(() -> pairedSession.window(4096, 1, 7)))
                .isEqualTo(Reason.UNKNOWN_SESSION);
        assertThat(reason(() -> rig.fabric().begin(before))).isEqualTo(Reason.UNKNOWN_SESSION);
        Awaiting.until("it is gone", () -> rig.stats().sessions() == 0);
        assertThat(reason(() -> pairing().require("ann", id))).isEqualTo(Reason.UNKNOWN_SESSION);
    }

    private static Reason reason(Runnable step) {
        return catchThrowableOfType(TransferException.class, step::run).reason();
    }

    @Test
    void aWrongKeyEndsThatSessionAndNoOther() throws IOException {
        PairedPeer liar = peer();
        PairedPeer witness = peer();
        PairedSession lying = pair("ann", liar);
        PairedSession honest = pair("bob", witness);
        MemorySegment memory = rig.allocate(LENGTH);
        int key = liar.register(memory);
        assertThat(failure(rig.fabric()
                .begin(lying.window(memory.address(), LENGTH, key ^ 0x5500))
                .write(pages.of(random(3, LENGTH)), 0))).isEqualTo(Reason.REMOTE_ACCESS);
        Awaiting.until("it is gone", () -> rig.stats().sessions() == 1);
        assertThat(lying.session().isOpen()).isFalse();
        assertThat(memory.toArray(JAVA_BYTE)).containsOnly(0);
        bytesMoveBothWays("bob", honest, witness, 4);
        assertThat(rig.stats().refused(Reason.REMOTE_ACCESS)).isPositive();
        assertThat(rig.stats().refused(Reason.PEER_GONE)).isZero();
    }

    @Test
    void aWrongKeyOfWhatIsReadIsToldAsSuchAndSoIsTheCookieThatFollows() throws IOException {
        PairedPeer liar = peer();
        PairedSession pairedSession = pair("ann", liar);
        MemorySegment memory = rig.allocate(LENGTH);
        RemoteBuffer window = pairedSession.window(memory.address(), LENGTH,
                liar.register(memory) ^ 0x5500);
        CompletionStage<PageSlice> read = rig.fabric()
                .begin(window)
                .read(pages.slice(0, LENGTH), 0);
        CompletionStage<Void> told = pairedSession.announce(window, COOKIE);
        assertThat(failure(read)).isEqualTo(Reason.REMOTE_ACCESS);
        assertThat(failure(told)).isEqualTo(Reason.REMOTE_ACCESS);
    }

    /** It waits for packets of before, and the gateway is never answered. */
    @Test
    void aPeerThatWaitsForAnotherSequenceGetsNothing() throws IOException {
        PairedPeer peer = peer();
        PairedSession pairedSession = pair("ann", peer.own(), null);
        peer.connect(new QueuePairEnd(pairedSession.own().number(), pairedSession.own().gid(), 0,
                pairedSession.own().packetSequence() - 1000 & QueuePairEnd.LARGEST_NUMBER));
        MemorySegment memory = rig.allocate(4096);
        RemoteBuffer window = pairedSession.window(memory.address(), 4096, peer.register(memory));
        assertThat(failure(rig.fabric().begin(window).write(pages.of(random(5, 4096)), 0)))
                .isEqualTo(Reason.PEER_GONE);
        assertThat(memory.toArray(JAVA_BYTE)).containsOnly(0);
        Awaiting.until("it is gone", () -> rig.stats().sessions() == 0);
    }

    @Test
    void aPeerThatDiesInMidTransferLeavesNothing() throws IOException {
        PairedPeer peer = peer();
        PairedSession pairedSession = pair("ann", peer);
        int length = 8 << 20;
        MemorySegment memory = rig.allocate(length);
        Transfer transfer = rig.fabric()
                .begin(pairedSession.window(memory.address(), length, peer.register(memory)));
        List<CompletionStage<Void>> writes = VerbsFaultsTest.writeAll(pages, transfer, length);
        peer.die();
        assertThat(writes.stream().map(Awaiting::failure).toList()).contains(Reason.PEER_GONE);
        Awaiting.until("no lease is left", () -> pages.leases() == 0);
        Awaiting.until("it is gone", () -> rig.stats().sessions() == 0);
    }

    @Test
    void oneThatMovesNothingForLongEndsAndOneThatDoesNot() throws IOException {
        nothingIsLeft();
        start(IDLE);
        PairedPeer busy = peer();
        PairedSession used = pair("ann", busy);
        PairedSession idle = pair("ann", peer());
        Awaiting.until("it is gone", () -> {
            try {
                bytesMoveBothWays("ann", used, busy, 6);
            } catch (IOException e) {
                throw new AssertionError(e);
            }
            pages.recycle();
            return !idle.session().isOpen();
        });
        assertThat(used.session().isOpen()).isTrue();
        assertThat(((PeerSession) idle.session()).endReason())
                .isEqualTo(EndReason.SILENT);
    }

    @Test
    void aPrincipalHasOnlySoManyAndARevokedOneNone() throws IOException {
        for (int i = 0; i < 3; i++) {
            var _ = pair("ann", peer());
        }
        QueuePairEnd one = peer().own();
        assertThat(refusal("ann", one, null))
                .isEqualTo(PairingException.Reason.TOO_MANY_SESSIONS);
        var _ = pair("bob", one, null);
        clientSessions.revoke("ann");
        Awaiting.until("they are gone", () -> rig.stats().sessions() == 1);
        var _ = pair("ann", peer().own(), null);
    }

    @Test
    void aGidThatNoAdapterReachesIsRefused() throws IOException {
        QueuePairEnd end = new QueuePairEnd(7, InetAddress.getByName("2001:db8::7"), 0, 1);
        assertThat(refusal("ann", end, null)).isEqualTo(PairingException.Reason.NO_ROUTE);
        assertThat(clientSessions.open()).isZero();
    }

    @Test
    void aPeerWritesItsStagingOnceAndNobodyElseAnything() throws IOException {
        PairedPeer peer = peer();
        PairedSession pairedSession = pair("ann", peer.own(),
                new PairRequest.Staging(LENGTH, COOKIE));
        peer.connect(pairedSession.own());
        StagingArea staging = pairedSession.staging().orElseThrow();
        assertThat(refusal("bob", peer().own(), new PairRequest.Staging(STAGING_BYTES, 1)))
                .isEqualTo(PairingException.Reason.NO_ROOM);
        assertThat(reason(() -> rig.fabric().begin(staging.window())))
                .isEqualTo(Reason.UNKNOWN_KEY);

        PairedPeer thief = peer();
        PairedSession other = pair("bob", thief.own(), new PairRequest.Staging(LENGTH, COOKIE));
        thief.connect(other.own());
        MemorySegment memory = rig.allocate(LENGTH);
        assertThat(thief.write(memory, thief.register(memory), staging.address(), staging.key(),
                COOKIE)).isEqualTo(Completions.REMOTE_ACCESS_ERROR);

        byte[] bytes = random(8, LENGTH);
        MemorySegment.copy(bytes, 0, memory, JAVA_BYTE, 0, LENGTH);
        int key = peer.register(memory);
        assertThat(peer.write(memory, key, staging.address(), staging.key(), COOKIE)).isZero();
        result(staging.filled());
        Transfer transfer = rig.fabric().begin(staging.window());
        try (PageSlice landed = result(transfer.read(pages.slice(0, LENGTH), 0))) {
            assertThat(TestPages.bytes(landed)).isEqualTo(bytes);
        }
        result(transfer.fence());
        assertThat(peer.write(memory, key, staging.address(), staging.key(), COOKIE))
                .as("its right was taken back")
                .isEqualTo(Completions.REMOTE_ACCESS_ERROR);
        pairedSession.end(EndReason.PEER_GONE);
        other.end(EndReason.PEER_GONE);
        Awaiting.until("they are gone", () -> rig.stats().sessions() == 0);
        var _ = pair("ann", peer().own(), new PairRequest.Staging(STAGING_BYTES, 1));
    }

    @Test
    void anotherValueThanWasAgreedEndsTheSession() throws IOException {
        PairedPeer peer = peer();
        PairedSession pairedSession = pair("ann", peer.own(),
                new PairRequest.Staging(4096, COOKIE));
        peer.connect(pairedSession.own());
        StagingArea staging = pairedSession.staging().orElseThrow();
        MemorySegment memory = rig.allocate(4096);
        var _ = peer.write(memory, peer.register(memory), staging.address(), staging.key(),
                COOKIE + 1);
        assertThat(failure(staging.filled())).isEqualTo(Reason.PEER_GONE);
        assertThat(pairedSession.session().isOpen()).isFalse();
    }
}
