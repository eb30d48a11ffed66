package io.railhead.rdma.verbs;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.RdmaCmId;
import io.railhead.os.adapter.Adapter;
import io.railhead.os.adapter.MessageMemory;
import io.railhead.os.adapter.PairedRoute;
import io.railhead.os.adapter.QueuePairConfig;
import io.railhead.os.adapter.QueuePairEnd;
import io.railhead.os.devices.Gid;
import io.railhead.os.devices.GidRequest;
import io.railhead.os.devices.GidType;
import io.railhead.os.devices.RdmaDevice;
import io.railhead.os.devices.RdmaPort;
import io.railhead.os.verbs.Completions;
import io.railhead.os.verbs.RequiresRdmaCore;
import io.railhead.rdma.QueuePairState;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.channel.RequestHandler;
import io.railhead.rdma.pairing.PairRequest;
import io.railhead.rdma.pairing.PairingException;
import io.railhead.rdma.pairing.PairingException.Reason;
import io.railhead.rdma.poller.PortBudgets;
import io.railhead.rdma.session.ClientSessions;
import io.railhead.rdma.session.PeerSession;
import io.railhead.rdma.verbs.VerbsFabricConfig.OutstandingBytes;
import io.railhead.rdma.verbs.VerbsFabricConfig.Polling;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a failing adapter leaves of pairs. The test is the control thread, and the poller. */
@SuppressWarnings("NullAway")
@RequiresRdmaCore
final class PairedFailuresTest {
    private static final InetAddress OWN = InetAddress.ofLiteral("10.99.0.1");
    private static final QueuePairEnd PEER = new QueuePairEnd(8,
            InetAddress.ofLiteral("10.99.0.2"), 0, 1);
    private static final Duration IDLE = Duration.ofMinutes(1);
    private static final long STAGING_BYTES = 8192;

    private final ClientSessions clientSessions = new ClientSessions(Duration.ofMinutes(1), 10, 10);
    private final VerbsFabricConfig config = VerbsFabricConfig.at(new InetSocketAddress(OWN, 0))
            .with(new VerbsFabricConfig.Pairs(IDLE, STAGING_BYTES));
    private final VerbsPeers peers = new VerbsPeers(config, clientSessions, RequestHandler.NONE);
    private FakeDevice device;
    private Adapter adapter;
    private PollerGroup pollerGroup;
    private Port port;
    private PairedQueues pairs;

    @BeforeEach
    void open() throws IOException {
        device = new FakeDevice();
        adapter = Adapter.open(device.verbs, "fake0");
        pollerGroup = new PollerGroup(0, adapter, QueuePairConfig.DEFAULT,
                new Polling(1, Duration.ZERO, 1024),
                new OutstandingBytes(1, 1, 1), _ -> {});
        port = new Port(new InetSocketAddress(OWN, 0), new NoId(), adapter, List.of(pollerGroup),
                new PortBudgets(1, 1, _ -> {}));
        Gid gid = new Gid(0, OWN, GidType.ROCE_V2, Optional.empty());
        pairs = new PairedQueues(device.verbs, peers, config, List.of(port),
                new PortGids(GidRequest.of(GidType.ROCE_V2),
                        () -> List.of(new RdmaDevice("fake0", "CA", 0, List.of(
                                new RdmaPort(1, "ACTIVE", "Ethernet", "", List.of(gid)))))));
        pairs.runsOn(Runnable::run);
    }

    @AfterEach
    void close() {
        pollerGroup.close();
        adapter.close();
        device.close();
    }

    private Reason refusalToStage() throws Exception {
        CompletableFuture<?> asked = pairs
                .pair(new PairRequest("ann", PEER, null,
                        new PairRequest.Staging(STAGING_BYTES, 1)))
                .toCompletableFuture();
        try {
            throw new AssertionError(asked.get(1, TimeUnit.MINUTES));
        } catch (ExecutionException e) {
            return ((PairingException) requireNonNull(e.getCause())).reason();
        }
    }

    private PairedQueue queue() throws IOException {
        PeerSession session = requireNonNull(clientSessions.openPaired("ann", VerbsFabric.NAME));
        QueuePairConnection queuePairConnection = new QueuePairConnection(pollerGroup,
                pollerGroup.tryReserve(PairedQueue.RECEIVES), null, new IbvQP(7), 0,
                PairedQueue.RECEIVES, MessageMemory.bodiless(PairedQueue.RECEIVES + 1));
        return new PairedQueue(session, port, pollerGroup, queuePairConnection,
                new PairedRoute(1, 0, 1, PEER, PEER), null, pairs);
    }

    @Test
    void aPairsQueuePairIsCountedByWhatItIsAboutUntilItIsGone() throws IOException {
        PairedQueue queue = queue();
        assertThat(queuePairs()).containsExactly(QueuePairState.OPEN);
        queue.link().failed(Completions.FLUSHED);
        assertThat(queuePairs()).containsExactly(QueuePairState.BROKEN);
        queue.gone();
        assertThat(queuePairs()).isEmpty();
        PairedQueue stubborn = queue();
        stubborn.link().failed(Completions.FLUSHED);
        stubborn.kept();
        assertThat(queuePairs()).containsExactly(QueuePairState.KEPT);
    }

    private List<QueuePairState> queuePairs() {
        return peers.counts()
                .snapshot(Map.of())
                .queuePairs()
                .entrySet()
                .stream()
                .filter(entry -> entry.getValue() != 0)
                .map(Map.Entry::getKey)
                .toList();
    }

    @Test
    void whoseTransferIsUnderWayIsNotSilent() throws IOException {
        PairedQueue queue = queue();
        long later = System.nanoTime() + IDLE.toNanos();
        assertThat(queue.isSilent(System.nanoTime())).isFalse();
        assertThat(queue.isSilent(later)).isTrue();
        queue.hold();
        assertThat(queue.isSilent(later)).isFalse();
    }

    /** Each of the three is the peer's own registration or key; the rest is not. */
    @Test
    void whatThePeersAdapterRefusesIsToldApartFromAPeerThatIsGone() throws IOException {
        assertThat(reasonAfter(Completions.REMOTE_ACCESS_ERROR))
                .isEqualTo(TransferException.Reason.REMOTE_ACCESS);
        assertThat(reasonAfter(Completions.REMOTE_INVALID_REQUEST))
                .isEqualTo(TransferException.Reason.REMOTE_ACCESS);
        assertThat(reasonAfter(Completions.REMOTE_OPERATION_ERROR))
                .isEqualTo(TransferException.Reason.REMOTE_ACCESS);
        assertThat(reasonAfter(Completions.RETRY_EXCEEDED))
                .isEqualTo(TransferException.Reason.PEER_GONE);
        assertThat(reasonAfter(Completions.FLUSHED))
                .isEqualTo(TransferException.Reason.PEER_GONE);
    }

    /** What the next write of a transfer hears, once a request has completed so. */
    private TransferException.Reason reasonAfter(int status) throws IOException {
        PairedQueue queue = queue();
        VerbsTransfer transfer = (VerbsTransfer) queue.begin(queue.window(4096, 1, 7));
        queue.link().failed(status);
        return requireNonNull(transfer.findReasonToStop()).reason();
    }

    @Test
    void whatFindsNoMemoryIsRefusedAndLeavesNoSession() throws Exception {
        device.exhausted.add("register");
        assertThat(refusalToStage()).isEqualTo(Reason.NO_ROOM);
        assertThat(clientSessions.open()).isZero();
        device.exhausted.clear();
        device.failing.add("modify");
        assertThat(refusalToStage()).as("there is room again").isEqualTo(Reason.UNAVAILABLE);
    }

    @Test
    void memoryThatAnAdapterMayStillWriteIsKeptAndCounted() throws Exception {
        device.failing.addAll(List.of("modify", "deregister"));
        assertThat(refusalToStage()).isEqualTo(Reason.UNAVAILABLE);
        assertThat(device.count("deallocPd")).isZero();
        device.failing.remove("deregister");
        assertThat(refusalToStage()).isEqualTo(Reason.NO_ROOM);
        assertThat(clientSessions.open()).isZero();
    }

    @Test
    void aRightThatCouldNotBeTakenBackIsTakenBackLater() throws IOException {
        StagingMemory stagingMemory = new StagingMemory(adapter, STAGING_BYTES);
        device.failing.add("deregister");
        assertThatThrownBy(stagingMemory::revoke).hasMessageContaining("deregister");
        assertThatThrownBy(stagingMemory::close).hasMessageContaining("deregister");
        device.failing.clear();
        stagingMemory.close();
        assertThat(device.calls).endsWith("deregister", "deallocPd");
    }

    private static final class NoId extends RdmaCmId {
        NoId() throws IOException {
            super(null, null);
        }

        @Override
        public byte getPort_num() {
            return 1;
        }
    }
}
