package io.railhead.rdma.verbs;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.RdmaCmId;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageSlice;
import io.railhead.os.adapter.Adapter;
import io.railhead.os.adapter.MessageMemory;
import io.railhead.os.adapter.QueuePairConfig;
import io.railhead.os.verbs.RequiresRdmaCore;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.AnswerOrigin;
import io.railhead.protocol.channel.EndedMessage;
import io.railhead.protocol.message.Bytes32;
import io.railhead.protocol.message.EndReason;
import io.railhead.protocol.message.Message;
import io.railhead.protocol.message.Message.Bye;
import io.railhead.protocol.message.Message.Ping;
import io.railhead.protocol.message.Message.Proof;
import io.railhead.protocol.message.MessageCodec;
import io.railhead.protocol.message.MessageHeader;
import io.railhead.protocol.message.Refusal;
import io.railhead.protocol.message.SessionKey;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.channel.RequestHandler;
import io.railhead.rdma.poller.PortBudgets;
import io.railhead.rdma.session.ClientSessions;
import io.railhead.rdma.session.EndedSessions;
import io.railhead.rdma.session.PeerSession;
import io.railhead.rdma.verbs.VerbsFabricConfig.OutstandingBytes;
import io.railhead.rdma.verbs.VerbsFabricConfig.Polling;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The test is the poller, and never posts: as if the peer took nothing. */
@SuppressWarnings("NullAway")
@RequiresRdmaCore
final class VerbsConnectionTest {
    private static final byte[] KEY = new byte[32];
    private static final int PAGE = 1 << 20;
    private static final long PRINCIPAL_BYTES = 8 * PAGE;
    private static final QueuePairConfig CONFIG = QueuePairConfig.DEFAULT;

    private final ClientSessions clientSessions = new ClientSessions(Duration.ofMinutes(1), 10, 10);
    private final VerbsPeers peers = new VerbsPeers(
            VerbsFabricConfig.at(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)),
            clientSessions, RequestHandler.NONE);
    private FakeDevice device;
    private Adapter adapter;
    private PollerGroup pollerGroup;
    private final List<MessageMemory> memories = new ArrayList<>();
    private Port port;
    private PeerSession session;
    private VerbsConnection connection;

    @BeforeEach
    void open() throws IOException {
        device = new FakeDevice();
        adapter = Adapter.open(device.verbs, "fake0");
        pollerGroup = new PollerGroup(0, adapter, CONFIG, new Polling(1, Duration.ZERO, 1024),
                new OutstandingBytes(PRINCIPAL_BYTES, PRINCIPAL_BYTES, PRINCIPAL_BYTES), _ -> {});
        port = new Port(new InetSocketAddress(0), new NoId(), adapter, List.of(pollerGroup),
                new PortBudgets(PRINCIPAL_BYTES, PRINCIPAL_BYTES, _ -> {}));
        connection = connect();
    }

    private VerbsConnection connect() throws IOException {
        MessageMemory memory = adapter.takeMessages(peers.buffers(),
                MessageHeader.MAX_MESSAGE_BYTES);
        memories.add(memory);
        String id = requireNonNull(clientSessions.open("ann", VerbsFabric.NAME, _ -> KEY)).id();
        session = requireNonNull(clientSessions.findPending(id, VerbsFabric.NAME));
        Bytes32 nonce = Bytes32.random(new Random(1));
        VerbsConnection made = new VerbsConnection(peers, port, pollerGroup,
                new QueuePairConnection(pollerGroup, pollerGroup.tryReserve(peers.receives()), null,
                        new IbvQP(7), 0,
                        peers.receives(), memory),
                new Handshake(session, nonce, nonce, List.of()), _ -> {});
        says(made, new Proof(SessionKey.clientProof(KEY, id, nonce, nonce)));
        assertThat(session.isOpen()).isTrue();
        return made;
    }

    @AfterEach
    void close() {
        pollerGroup.close();
        memories.forEach(adapter::giveBack);
        adapter.close();
        device.close();
    }

    private void says(Message message) {
        says(connection, message);
    }

    private static void says(VerbsConnection connection, Message message) {
        connection.received(MessageCodec.encode(message).order(ByteOrder.LITTLE_ENDIAN));
    }

    private @Nullable EndReason remembered() throws IOException {
        EndedSessions.Remembered over = peers.ended().find(session.id());
        if (over == null) {
            return null;
        }
        ByteBuffer said = over.toSay().getFirst().order(ByteOrder.LITTLE_ENDIAN);
        return EndedMessage.decode(said.position(MessageHeader.BYTES)).reason();
    }

    @Test
    void whoAsksOnAndHearsNothingIsEnded() {
        for (int i = 0; i < 4; i++) {
            says(new Ping(i));
        }
        assertThat(session.isOpen()).isTrue();
        for (int i = 0; i < 10_000; i++) {
            says(new Ping(i));
        }
        assertThat(session.isOpen()).isFalse();
        assertThat(session.endReason()).isEqualTo(EndReason.PROTOCOL);
        assertThat(peers.counts().snapshot().refused(Refusal.PROTOCOL)).isOne();
    }

    private VerbsDelivery delivery(VerbsConnection to, PageMemory pages) {
        @Nullable
        PageSlice[] slices = new PageSlice[8];
        for (int i = 0; i < slices.length; i++) {
            slices[i] = pages.tryLand((long) i * PAGE, PAGE);
        }
        VerbsDelivery verbsDelivery = new VerbsDelivery(to);
        verbsDelivery.begin(new VerbsRegion(to, 1 << 30, PRINCIPAL_BYTES, 3),
                new RemoteBuffer(session, 1 << 30, PRINCIPAL_BYTES, 3), slices, slices.length,
                Answer.delivered(1, 200, PRINCIPAL_BYTES, PRINCIPAL_BYTES, 0, 0, "", "",
                        AnswerOrigin.HIT));
        return verbsDelivery;
    }

    /** What each has of the budget comes back only when all of it has gone. */
    @Test
    void twoDeliveriesDoNotWaitForEachOther() throws IOException {
        VerbsConnection another = connect();
        try (PageMemory pages = PageMemory.open(
                new MemoryConfig(64L * PAGE, PAGE, 0.5, false), slab -> adapter.slabKeys()
                        .add(slab.segment().address(), slab.segment().byteSize(), 5));
                WorkRequestBatch workRequestBatch = new WorkRequestBatch(adapter, CONFIG)) {
            VerbsDelivery first = delivery(connection, pages);
            VerbsDelivery second = delivery(another, pages);
            workRequestBatch.begin(connection.link());
            assertThat(first.tryAdd(workRequestBatch)).as("more than a turn").isFalse();
            workRequestBatch.begin(another.link());
            assertThat(second.tryAdd(workRequestBatch)).isFalse();
            workRequestBatch.begin(connection.link());
            assertThat(first.tryAdd(workRequestBatch)).as("all of the first").isTrue();
            connection.link().gone();
            workRequestBatch.begin(another.link());
            assertThat(second.tryAdd(workRequestBatch)).isFalse();
            workRequestBatch.begin(another.link());
            assertThat(second.tryAdd(workRequestBatch)).as("all of the second").isTrue();
            another.link().gone();
        }
    }

    @Test
    void whatBreaksBeforeItsLastWordsIsRemembered() throws IOException {
        connection.shutDown();
        assertThat(remembered()).isNull();
        connection.disconnected();
        assertThat(remembered()).isEqualTo(EndReason.SHUTTING_DOWN);
    }

    @Test
    void whoWentByItselfIsNotTold() throws IOException {
        says(new Bye());
        connection.disconnected();
        assertThat(remembered()).isNull();
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
