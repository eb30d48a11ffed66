package io.railhead.rdma.loopback;

import static io.railhead.rdma.Awaiting.failure;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.memory.PageSlice;
import io.railhead.rdma.Awaiting;
import io.railhead.rdma.OpenDescriptors;
import io.railhead.rdma.TestPages;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.TransferException.Reason;
import io.railhead.rdma.session.ClientSession;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class KilledPeerTest {
    private static final int MIB = 1 << 20;
    private static final int WINDOW_MIB = 64;

    @TempDir
    Path folder;

    @Test
    void aProcessKilledInMidTransferLeavesNoLeaseNoMemoryAndNoDescriptor() throws IOException {
        try (LoopbackRig rig = LoopbackRig.in(folder);
                TestPages pages = new TestPages(rig.fabric())) {
            rig.peer("bob").ping();
            long before = OpenDescriptors.count();
            killInMidTransfer(rig, pages);
            Awaiting.until("the session ends", () -> rig.sessions().open() == 1);
            Awaiting.until("memory is let go", () -> rig.stats().registeredBytes() == 0);
            Awaiting.until("descriptors are closed", () -> OpenDescriptors.count() <= before);
            assertThat(pages.leases()).isZero();
        }
    }

    private static void killInMidTransfer(LoopbackRig rig, TestPages pages) throws IOException {
        ClientSession clientSession = rig.open("ann");
        try (PeerProcess process = new PeerProcess(rig.socket(), clientSession.id(),
                (long) WINDOW_MIB * MIB)) {
            Transfer transfer = rig.fabric()
                    .begin(rig.sessions()
                            .resolve("ann",
                                    clientSession.number(), process.address,
                                    (long) WINDOW_MIB * MIB,
                                    process.key));
            assertThat(failure(write(transfer, pages, 0))).isNull();
            process.kill();
            List<CompletionStage<Void>> writes = new ArrayList<>();
            Awaiting.until("transfers break off", () -> {
                for (int i = 0; i < WINDOW_MIB / 2; i++) {
                    writes.add(write(transfer, pages, i));
                }
                // All of them, for those after the first may still hold their leases.
                long gone = writes.stream()
                        .filter(stage -> failure(stage) == Reason.PEER_GONE)
                        .count();
                pages.recycle();
                return gone > 0;
            });
            assertThat(writes).allMatch(stage -> stage.toCompletableFuture().isDone());
        }
    }

    private static CompletionStage<Void> write(Transfer transfer, TestPages pages, int mib) {
        PageSlice slice = pages.slice(0, MIB);
        slice.segments().forEach(segment -> segment.fill((byte) mib));
        return transfer.write(slice, (long) mib * MIB);
    }
}
