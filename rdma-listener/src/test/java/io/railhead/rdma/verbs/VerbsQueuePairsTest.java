package io.railhead.rdma.verbs;

import static io.railhead.rdma.Awaiting.result;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.ibm.disni.verbs.IbvQP;
import io.railhead.client.verbs.VerbsClient;
import io.railhead.os.adapter.QueuePairConfig;
import io.railhead.os.devices.GidRequest;
import io.railhead.os.devices.GidType;
import io.railhead.os.verbs.QueuePairMask;
import io.railhead.os.verbs.RequiresVerbs;
import io.railhead.os.verbs.VerbsExtensions;
import io.railhead.os.verbs.VerbsProvider;
import io.railhead.protocol.message.Refusal;
import io.railhead.protocol.message.RefusedException;
import io.railhead.rdma.Awaiting;
import io.railhead.rdma.QueuePairState;
import io.railhead.rdma.TestPages;
import io.railhead.rdma.channel.RequestHandler;
import io.railhead.rdma.session.ClientSession;
import io.railhead.rdma.session.PeerSession;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Queue pairs as they are configured, and one that cannot be destroyed. */
@RequiresVerbs
@Timeout(120)
final class VerbsQueuePairsTest {
    private static final int MTU_1024 = 3;
    private static final int LENGTH = 300_000;

    private static VerbsRig rig(VerbsFabricConfig config) throws IOException {
        return new VerbsRig(config, VerbsRig.freshSessions(), RequestHandler.NONE);
    }

    private static VerbsConnection connection(ClientSession clientSession, int key) {
        return (VerbsConnection) ((VerbsRegion) requireNonNull(
                ((PeerSession) clientSession).findRegion(key))).transferQueue();
    }

    private static int pathMtu(IbvQP queuePair) throws IOException {
        VerbsExtensions verbs = VerbsProvider.install();
        return verbs.query(queuePair, QueuePairMask.PATH_MTU).getPath_mtu();
    }

    @Test
    void aSmallerConfiguredMtuIsTheQueuePairsOnBothEnds() throws IOException {
        VerbsRig rig = rig(
                VerbsRig.config().with(QueuePairConfig.DEFAULT.withMaxPathMtu(1024)));
        TestPages pages = new TestPages(rig.fabric());
        ClientSession clientSession = rig.open("ann");
        try (VerbsClient peer = VerbsClient.connect(rig.peerConfig().withMaxPathMtu(1024),
                rig.gateway(), clientSession.id(), VerbsRig.KEY)) {
            MemorySegment memory = rig.allocate(LENGTH);
            int key = peer.register(memory);
            assertThat(pathMtu(connection(clientSession, key).link().queuePair()))
                    .isEqualTo(MTU_1024);
            assertThat(pathMtu(peer.transport().link().queuePair())).isEqualTo(MTU_1024);
            byte[] bytes = new byte[LENGTH];
            new Random(1).nextBytes(bytes);
            result(rig.fabric()
                    .begin(rig.sessions()
                            .resolve("ann", clientSession.number(), memory.address(), LENGTH, key))
                    .write(pages.of(bytes), 0));
            assertThat(Arrays.equals(memory.toArray(JAVA_BYTE), bytes)).isTrue();
        }
        rig.close();
        pages.close();
    }

    @Test
    void withoutALimitBothEndsHaveThePaths() throws IOException {
        try (VerbsRig rig = rig(VerbsRig.config())) {
            ClientSession clientSession = rig.open("ann");
            try (VerbsClient peer = VerbsClient.connect(rig.peerConfig(), rig.gateway(),
                    clientSession.id(),
                    VerbsRig.KEY)) {
                int key = peer.register(rig.allocate(4096));
                int gateway = pathMtu(connection(clientSession, key).link().queuePair());
                assertThat(gateway).isGreaterThan(MTU_1024)
                        .isEqualTo(pathMtu(peer.transport().link().queuePair()));
            }
        }
    }

    @Test
    void aConnectionByAGidThatIsNotConfiguredIsRefused() throws IOException {
        try (VerbsRig rig = rig(VerbsRig.config().with(GidRequest.of(GidType.ROCE_V1)))) {
            assertThat(catchThrowableOfType(RefusedException.class,
                    () -> rig.peer("ann")).reason()).isEqualTo(Refusal.WRONG_GID);
            assertThat(rig.stats().refused(Refusal.WRONG_GID)).isEqualTo(1);
        }
    }

    @Test
    void itsQueuePairIsCountedByWhatItIsAbout() throws IOException {
        try (VerbsRig rig = rig(VerbsRig.config())) {
            VerbsClient peer = rig.peer("ann");
            assertThat(rig.stats().queuePairs()).containsEntry(QueuePairState.OPEN, 1L)
                    .containsEntry(QueuePairState.PROVING, 0L);
            assertThat(rig.stats().pollerNanos()).isNotEmpty()
                    .allSatisfy((name, nanos) -> {
                        assertThat(name).startsWith("verbs-poller-");
                        assertThat(nanos).isPositive();
                    });
            peer.close();
            Awaiting.until("it is destroyed",
                    () -> rig.stats().queuePairs().values().stream().allMatch(n -> n == 0));
        }
    }

    /** As where a device hangs: to the library the queue pair is closed, and lives on. */
    @Test
    void closingEndsThoughAQueuePairCannotBeDestroyed() throws IOException {
        VerbsRig rig = rig(VerbsRig.config());
        ClientSession clientSession = rig.open("ann");
        VerbsClient peer = VerbsClient.connect(rig.peerConfig(), rig.gateway(), clientSession.id(),
                VerbsRig.KEY);
        int key = peer.register(rig.allocate(4096));
        VerbsConnection connection = connection(clientSession, key);
        connection.link().queuePair().close();
        rig.fabric().close();
        assertThat(connection.whenGone()).isDone();
        assertThat(rig.stats().sessions()).isZero();
        assertThat(rig.stats().queuePairs()).containsEntry(QueuePairState.KEPT, 1L)
                .containsEntry(QueuePairState.BROKEN, 0L);
        assertThat(rig.fabric().health().usable()).isFalse();
        peer.close();
        rig.close();
    }
}
