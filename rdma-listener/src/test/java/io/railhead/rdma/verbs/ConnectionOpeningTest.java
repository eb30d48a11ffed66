package io.railhead.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.RdmaCmId;
import io.railhead.os.adapter.Adapter;
import io.railhead.os.adapter.QueuePairConfig;
import io.railhead.os.adapter.QueuePairStates;
import io.railhead.os.verbs.RequiresRdmaCore;
import io.railhead.protocol.message.MessageHeader;
import io.railhead.rdma.FabricCounts;
import io.railhead.rdma.OpenDescriptors;
import io.railhead.rdma.QueuePairState;
import io.railhead.rdma.verbs.VerbsFabricConfig.OutstandingBytes;
import io.railhead.rdma.verbs.VerbsFabricConfig.Polling;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a failing link, poller or device leaves behind. The fake device looks at no id. */
@SuppressWarnings("NullAway")
@RequiresRdmaCore
final class ConnectionOpeningTest {
    private static final int RECEIVES = 8;
    private static final int BUFFERS = 12;
    private static final @Nullable RdmaCmId NO_ID = null;

    private final FabricCounts counts = new FabricCounts();
    private FakeDevice device;
    private Adapter adapter;

    @BeforeEach
    void open() throws IOException {
        device = new FakeDevice();
        adapter = Adapter.open(device.verbs, "fake0");
    }

    @AfterEach
    void close() {
        device.close();
    }

    /** With room in the completion queue for one link. */
    private PollerGroup rail() throws IOException {
        QueuePairConfig config = QueuePairConfig.DEFAULT;
        return new PollerGroup(0, adapter, config,
                new Polling(1, Duration.ZERO, config.sendDepth() + RECEIVES),
                new OutstandingBytes(1, 1, 1), _ -> {});
    }

    private @Nullable QueuePairConnection tryOpen(PollerGroup pollerGroup) throws IOException {
        QueuePairStates states = new QueuePairStates(device.verbs, QueuePairConfig.DEFAULT);
        return new ConnectionOpening(states, counts, RECEIVES, BUFFERS).tryOpen(pollerGroup, NO_ID,
                new TestAttributes(0), 1);
    }

    private void failsToOpen(PollerGroup pollerGroup, String refused) {
        device.failing.add(refused);
        assertThatThrownBy(() -> tryOpen(pollerGroup)).hasMessageContaining(refused);
        device.failing.remove(refused);
    }

    @Test
    void whatFailsBeforeThereIsAQueuePairLeavesRoomAndMemoryForTheNext() throws IOException {
        try (PollerGroup pollerGroup = rail()) {
            failsToOpen(pollerGroup, "register");
            failsToOpen(pollerGroup, "createQueuePair");
            assertThat(device.count("destroyQueuePair")).isZero();
            int id = pollerGroup.tryReserve(RECEIVES);
            assertThat(id).isNotNegative();
            pollerGroup.leave(id, RECEIVES);
            long registered = device.count("register");
            adapter.giveBack(adapter.takeMessages(BUFFERS,
                    MessageHeader.MAX_MESSAGE_BYTES));
            assertThat(device.count("register")).as("the memory was given back")
                    .isEqualTo(registered);
        }
        adapter.close();
        assertThat(device.count("deregister")).isEqualTo(1);
    }

    /** Whose completions would have no room in the queue, which then overran. */
    @Test
    void aLinkTooManyIsRefusedUntilAnotherLeaves() throws IOException {
        try (PollerGroup pollerGroup = rail()) {
            int id = pollerGroup.tryReserve(RECEIVES);
            assertThat(id).isNotNegative();
            assertThat(pollerGroup.tryReserve(RECEIVES)).isNegative();
            assertThat(tryOpen(pollerGroup)).isNull();
            assertThat(device.calls).doesNotContain("createQueuePair");
            pollerGroup.leave(id, RECEIVES);
            assertThat(pollerGroup.tryReserve(RECEIVES)).isNotNegative();
        }
        adapter.close();
    }

    @Test
    void whatFailsLaterDestroysTheQueuePairBeforeItsMemoryIsGivenBack() throws IOException {
        try (PollerGroup pollerGroup = rail()) {
            failsToOpen(pollerGroup, "modify");
            assertThat(device.count("destroyQueuePair")).isEqualTo(1);
            long registered = device.count("register");
            adapter.giveBack(adapter.takeMessages(BUFFERS,
                    MessageHeader.MAX_MESSAGE_BYTES));
            assertThat(device.count("register")).isEqualTo(registered);
            assertThat(pollerGroup.tryReserve(RECEIVES)).isNotNegative();
        }
        adapter.close();
        assertThat(device.calls).endsWith("deregister", "deallocPd", "close");
    }

    @Test
    void aQueuePairThatCannotBeDestroyedKeepsMemoryRoomQueueAndDevice() throws IOException {
        device.failing.add("destroyQueuePair");
        try (PollerGroup pollerGroup = rail()) {
            failsToOpen(pollerGroup, "modify");
            assertThat(pollerGroup.tryReserve(RECEIVES)).as("no room").isNegative();
            assertThat(counts.snapshot(Map.of()).queuePairs())
                    .containsEntry(QueuePairState.KEPT, 1L);
            long registered = device.count("register");
            var _ = adapter.takeMessages(BUFFERS,
                    MessageHeader.MAX_MESSAGE_BYTES);
            assertThat(device.count("register")).as("other memory").isGreaterThan(registered);
        }
        adapter.close();
        assertThat(device.calls).doesNotContain("destroyCQ", "destroyCompChannel", "deregister",
                "deallocPd", "close");
    }

    @Test
    void withoutMessagesNothingIsRegisteredForThem() throws IOException {
        try (PollerGroup pollerGroup = rail()) {
            ConnectionOpening opening = new ConnectionOpening(
                    new QueuePairStates(device.verbs, QueuePairConfig.DEFAULT), counts, 1,
                    ConnectionOpening.NO_BUFFERS);
            device.failing.add("modify");
            assertThatThrownBy(() -> opening.tryOpen(pollerGroup, null, adapter.domain(),
                    new ConnectionOpening.Steps() {
                        @Override
                        public void toInit(IbvQP queuePair) throws IOException {
                            new QueuePairStates(device.verbs, QueuePairConfig.DEFAULT)
                                    .toInit(queuePair, 1, 0);
                        }

                        @Override
                        public void toReady(IbvQP queuePair) {
                            throw new AssertionError("INIT was refused");
                        }
                    })).hasMessageContaining("modify");
            assertThat(device.count("register")).isZero();
            assertThat(device.count("destroyQueuePair")).isEqualTo(1);
            assertThat(pollerGroup.links()).isZero();
        }
        adapter.close();
    }

    @Test
    void aPollerThatCannotBeMadeLeavesNothingBehind() {
        long before = OpenDescriptors.count();
        for (String refused : new String[]{"createCompChannel", "createCQ", "reqNotification"}) {
            device.failing.add(refused);
            assertThatThrownBy(this::rail).hasMessageContaining(refused);
            device.failing.remove(refused);
        }
        assertThat(device.count("destroyCompChannel")).isEqualTo(2);
        assertThat(device.count("destroyCQ")).isEqualTo(1);
        assertThat(OpenDescriptors.count()).isEqualTo(before);
        adapter.close();
    }

    @Test
    void aDeviceThatCannotBeSetUpIsClosed() {
        device.failing.add("limits");
        assertThatThrownBy(() -> Adapter.open(device.verbs, "fake0"))
                .hasMessageContaining("limits");
        assertThat(device.calls).endsWith("limits", "close");
    }
}
