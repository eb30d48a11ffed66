package io.railhead.os.verbs;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQpAttr;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import io.railhead.os.devices.Gid;
import io.railhead.os.devices.RdmaDevice;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Connections over real verbs: made with rdma_cm's queue pairs, with one's own, and refused. */
@RequiresVerbs
@Timeout(120)
final class ConnectingTest {
    private static final int MTU_1024 = 3;

    private static VerbsLink link;

    @BeforeAll
    static void open() throws IOException {
        link = new VerbsLink();
    }

    @AfterAll
    static void close() throws IOException {
        link.close();
    }

    @Test
    void bothSidesSeePrivateDataDepthsAndAddresses() throws IOException {
        VerbsLink.Connection connection = link.connect(bytes("hello from the client"),
                bytes("welcome"));

        assertThat(text(connection.toServer())).startsWith("hello from the client");
        assertThat(text(connection.toClient())).startsWith("welcome");
        assertThat(connection.toServer().responderResources()).isEqualTo(4);
        assertThat(connection.toServer().initiatorDepth()).isEqualTo(4);
        assertThat(connection.passive().getDestination())
                .isEqualTo(connection.active().getSource());
        assertThat(((InetSocketAddress) connection.passive().getSource()).getPort())
                .isEqualTo(((InetSocketAddress) link.listener.getSource()).getPort());
        assertThat(stateOf(connection.serverQueue())).isEqualTo(IbvQP.IBV_QPS_RTS);
        assertThat(link.verbs.deviceName(connection.passive().getVerbs()))
                .isEqualTo(link.verbs.deviceName(link.server.context));
        link.disconnect(connection);
    }

    @Test
    void aRejectionCarriesItsReason() throws IOException {
        RdmaCmId active = link.resolved(link.client.queuePair(4, 4, 1));
        active.connect(link.verbs
                .connParam(new ConnectionParameters(bytes("let me in"), 1, 1, 6, 3, 0)));
        RdmaCmEvent request = VerbsLink.expect(link.serverEvents,
                RdmaCmEvent.EventType.RDMA_CM_EVENT_CONNECT_REQUEST);
        link.verbs.reject(request.getConnIdPriv(), bytes("full house"));
        RdmaCmEvent rejected = VerbsLink.expect(link.clientEvents,
                RdmaCmEvent.EventType.RDMA_CM_EVENT_REJECTED);

        assertThat(text(link.verbs.parameters(rejected))).startsWith("full house");
        request.getConnIdPriv().destroyId();
        active.destroyQP();
        active.destroyId();
    }

    @Test
    void theReceiverNotReadyTimerCanBeSetOnAConnection() throws IOException {
        VerbsLink.Connection connection = link.connect();
        IbvQpAttr attributes = link.verbs.queuePairAttributes();
        attributes.setMin_rnr_timer((byte) 12);
        attributes.setQpAttrMask(QueuePairMask.MIN_RNR_TIMER);
        link.verbs.modify(connection.serverQueue(), attributes);
        link.disconnect(connection);
    }

    @Test
    void ownQueuePairsHaveWhatWasChangedOnTheirWay() throws IOException {
        RdmaCmId active = link.resolved();
        IbvQP client = link.verbs.createQueuePair(link.client.domain,
                link.client.queuePair(16, 16, 4));
        move(active, client, IbvQP.IBV_QPS_INIT);
        active.connect(link.verbs.connParam(
                new ConnectionParameters(bytes("mine"), 4, 4, 6, 3, client.getQp_num())));

        RdmaCmEvent request = VerbsLink.expect(link.serverEvents,
                RdmaCmEvent.EventType.RDMA_CM_EVENT_CONNECT_REQUEST);
        assertThat(text(link.verbs.parameters(request))).startsWith("mine");
        assertThat(link.verbs.parameters(request).queuePair()).isEqualTo(client.getQp_num());
        RdmaCmId passive = request.getConnIdPriv();
        IbvQP server = link.verbs.createQueuePair(link.server.domain,
                link.server.queuePair(16, 16, 4));
        move(passive, server, IbvQP.IBV_QPS_INIT);
        assertThat(moveToReceive(passive, server)).isEqualTo(indexOf(link.devices.getFirst()));
        move(passive, server, IbvQP.IBV_QPS_RTS);
        passive.accept(link.verbs.connParam(
                new ConnectionParameters(bytes("welcome"), 4, 4, 6, 3, server.getQp_num())));

        RdmaCmEvent response = VerbsLink.expect(link.clientEvents,
                RdmaCmEvent.EventType.RDMA_CM_EVENT_CONNECT_RESPONSE);
        assertThat(text(link.verbs.parameters(response))).startsWith("welcome");
        moveToReceive(active, client);
        move(active, client, IbvQP.IBV_QPS_RTS);
        link.verbs.establish(active);
        VerbsLink.expect(link.serverEvents, RdmaCmEvent.EventType.RDMA_CM_EVENT_ESTABLISHED);

        for (IbvQP end : new IbvQP[]{client, server}) {
            IbvQpAttr has = link.verbs.query(end, QueuePairMask.STATE | QueuePairMask.PATH_MTU);
            assertThat(has.getQp_state()).isEqualTo(IbvQP.IBV_QPS_RTS);
            assertThat(has.getPath_mtu()).isEqualTo(MTU_1024);
        }
        active.disconnect();
        VerbsLink.expect(link.serverEvents, RdmaCmEvent.EventType.RDMA_CM_EVENT_DISCONNECTED);
        passive.disconnect();
        VerbsLink.expect(link.clientEvents, RdmaCmEvent.EventType.RDMA_CM_EVENT_DISCONNECTED);
        link.verbs.destroyQueuePair(client);
        link.verbs.destroyQueuePair(server);
        active.destroyId();
        passive.destroyId();
    }

    private static void move(RdmaCmId id, IbvQP queuePair, int state) throws IOException {
        link.verbs.modify(queuePair, link.verbs.connectionAttributes(id, state));
    }

    /** The index of the GID that the connection uses. */
    private static int moveToReceive(RdmaCmId id, IbvQP queuePair) throws IOException {
        IbvQpAttr attributes = link.verbs.connectionAttributes(id, IbvQP.IBV_QPS_RTR);
        assertThat(attributes.getPath_mtu()).isGreaterThan(MTU_1024);
        attributes.setPath_mtu(MTU_1024);
        link.verbs.modify(queuePair, attributes);
        return attributes.getAh_attr().getGrh().getSgid_index();
    }

    private static int indexOf(RdmaDevice device) {
        Gid gid = VerbsLink.gidOf(device);
        return gid.index();
    }

    private static int stateOf(IbvQP queuePair) throws IOException {
        return link.verbs.query(queuePair, QueuePairMask.STATE).getQp_state();
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(US_ASCII));
    }

    private static String text(ConnectionParameters parameters) {
        return US_ASCII.decode(parameters.privateData()).toString();
    }
}
