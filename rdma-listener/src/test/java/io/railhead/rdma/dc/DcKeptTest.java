package io.railhead.rdma.dc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.cache.memory.MemoryConfig;
import io.railhead.os.adapter.GidBytes;
import io.railhead.os.verbs.FakeMlx5;
import io.railhead.os.verbs.FakePeer;
import io.railhead.os.verbs.RequiresRdmaCore;
import io.railhead.rdma.Awaiting;
import io.railhead.rdma.QueuePairState;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.TestBuffer;
import io.railhead.rdma.TestPages;
import io.railhead.rdma.TestPeer;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.TransferException.Reason;
import io.railhead.rdma.session.ClientSessions;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.HexFormat;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What cannot be stopped, and what cannot be opened. */
@Timeout(120)
@RequiresRdmaCore
class DcKeptTest {

    /** Leaves the adapter and the pages behind, as a process would that goes on. */
    @Test
    void whatAnInitiatorThatCannotBeDestroyedMayTouchIsNeverGivenBack() throws IOException {
        DcRig rig = DcRig.start();
        TestPages pages = new TestPages(rig.fabric());
        TestPeer peer = rig.connect("ann");
        TestBuffer buffer = peer.register(100);
        rig.adapter.hold();
        Transfer transfer = rig.fabric()
                .begin(rig.resolve("ann", peer.sessionNumber(), buffer.address(), 100,
                        buffer.key()));
        CompletionStage<Void> write = transfer.write(pages.of(new byte[100]), 0);
        Awaiting.until("it is posted", () -> rig.adapter.posted().size() == 1);
        rig.adapter.fail("ibv_modify_qp to RESET", 5);
        rig.adapter.fail("ibv_destroy_qp", 16);
        CompletionStage<Void> fenced = transfer.fence();
        Awaiting.until("it is kept",
                () -> rig.stats().queuePairs().getOrDefault(QueuePairState.KEPT, 0L) == 1);
        rig.fabric().close();
        assertThat(fenced.toCompletableFuture()).isNotDone();
        assertThat(write.toCompletableFuture()).isNotDone();
        assertThat(pages.leases()).isEqualTo(1);
        assertThat(rig.adapter.registrations()).isPositive();
    }

    @Test
    void aDeviceOfAnotherMakerIsRefusedAndGivenBack() throws IOException {
        try (FakeMlx5 adapter = FakeMlx5.open()) {
            assertThatThrownBy(() -> new DcFabric(DcRig.config(), adapter.verbs(),
                    new OtherMlx5(adapter, false, new CountDownLatch(0)), DcRig::devices,
                    new ClientSessions(Duration.ofSeconds(1), 1, 1)))
                    .hasMessage("mlx5_0 is no mlx5 device: DC is a transport of NVIDIA's ConnectX"
                            + " adapters");
            assertThat(adapter.objects()).isZero();
        }
    }

    @Test
    void whoseWayIsStillLookedForWhenTheFabricClosesHearsOfIt() throws Exception {
        try (FakeMlx5 adapter = FakeMlx5.open(); Arena arena = Arena.ofShared()) {
            CountDownLatch mayLookUp = new CountDownLatch(1);
            DcFabric fabric = new DcFabric(DcRig.config(), adapter.verbs(),
                    new OtherMlx5(adapter, true, mayLookUp), DcRig::devices,
                    new ClientSessions(Duration.ofSeconds(1), 1, 1));
            TestPages pages = new TestPages(fabric, new MemoryConfig(16L << 20, 1 << 20, 0, false));
            FakePeer peer = adapter.peer(DcRig.KEY.value());
            MemorySegment memory = arena.allocate(100);
            DcClient target = new DcClient("ann", "ann",
                    GidBytes.read(HexFormat.of().parseHex(peer.gid())), 0, peer.number());
            CompletionStage<Void> write = fabric
                    .begin(new RemoteBuffer(target, memory.address(), 100, peer.register(memory)))
                    .write(pages.of(new byte[100]), 0);
            Thread closing = Thread.ofVirtual().start(fabric::close);
            Awaiting.until("it closes", () -> !fabric.health().usable());
            mayLookUp.countDown();
            closing.join();
            assertThat(Awaiting.failure(write)).isIn(null, Reason.UNAVAILABLE);
            assertThat(adapter.addressHandles()).isZero();
            assertThat(adapter.objects()).isZero();
            pages.close();
        }
    }
}
