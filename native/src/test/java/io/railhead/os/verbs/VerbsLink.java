package io.railhead.os.verbs;

import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.IbvQpAttr;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import io.railhead.os.devices.Gid;
import io.railhead.os.devices.GidChoice;
import io.railhead.os.devices.GidRequest;
import io.railhead.os.devices.GidType;
import io.railhead.os.devices.RdmaDevice;
import io.railhead.os.devices.RdmaDevices;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A listener on the first device, a client on the last, and connections between them, all driven by
 * the test's own thread.
 */
final class VerbsLink implements AutoCloseable {
    static final int TIMEOUT_MILLIS = 30_000;
    private static final int ACCESS = IbvMr.IBV_ACCESS_LOCAL_WRITE
            | IbvMr.IBV_ACCESS_REMOTE_WRITE | IbvMr.IBV_ACCESS_REMOTE_READ;
    /** Over a cable to oneself the answer to ARP can overtake the question: then it is all used. */
    static final int RESOLVE_MILLIS = 3_000;

    final VerbsExtensions verbs = VerbsProvider.install();
    final RdmaEventChannel serverEvents = RdmaEventChannel.createEventChannel();
    final RdmaEventChannel clientEvents = RdmaEventChannel.createEventChannel();
    final VerbsSide server;
    final VerbsSide client;
    final RdmaCmId listener;
    final List<RdmaDevice> devices;
    private final InetSocketAddress listening;
    private final InetAddress clientAddress;

    VerbsLink() throws IOException {
        devices = RdmaDevices.read();
        server = new VerbsSide(verbs, devices.getFirst().name());
        client = new VerbsSide(verbs, devices.getLast().name());
        clientAddress = addressOf(devices.getLast());
        listener = serverEvents.createId(RdmaCm.RDMA_PS_TCP);
        verbs.setReuseAddress(listener);
        listener.bindAddr(new InetSocketAddress(addressOf(devices.getFirst()), 0));
        listener.listen(16);
        listening = (InetSocketAddress) listener.getSource();
    }

    static InetAddress addressOf(RdmaDevice device) {
        return gidOf(device).address();
    }

    static Gid gidOf(RdmaDevice device) {
        return switch (GidChoice.of(List.of(device), GidRequest.of(GidType.ROCE_V2))) {
            case GidChoice.Chosen chosen -> chosen.gid();
            case GidChoice.None(String reason) -> throw new IllegalStateException(reason);
        };
    }

    /** A client's id with its route resolved, and the queue pair made. */
    RdmaCmId resolved(IbvQPInitAttr attributes) throws IOException {
        RdmaCmId id = resolved();
        id.createQP(client.domain, attributes);
        return id;
    }

    /** A client's id with its route resolved. */
    RdmaCmId resolved() throws IOException {
        RdmaCmId id = clientEvents.createId(RdmaCm.RDMA_PS_TCP);
        verbs.setAckTimeout(id, 16);
        verbs.setTypeOfService(id, 96);
        id.resolveAddr(new InetSocketAddress(clientAddress, 0), listening, RESOLVE_MILLIS);
        expect(clientEvents, RdmaCmEvent.EventType.RDMA_CM_EVENT_ADDR_RESOLVED);
        id.resolveRoute(RESOLVE_MILLIS);
        expect(clientEvents, RdmaCmEvent.EventType.RDMA_CM_EVENT_ROUTE_RESOLVED);
        return id;
    }

    Connection connect(ByteBuffer fromClient, ByteBuffer fromServer) throws IOException {
        RdmaCmId active = resolved(client.queuePair(64, 64, 16));
        active.connect(verbs.connParam(new ConnectionParameters(fromClient, 4, 4, 6, 3, 0)));
        RdmaCmEvent request = expect(serverEvents,
                RdmaCmEvent.EventType.RDMA_CM_EVENT_CONNECT_REQUEST);
        RdmaCmId passive = request.getConnIdPriv();
        passive.createQP(server.domain, server.queuePair(64, 64, 16));
        passive.accept(verbs.connParam(new ConnectionParameters(fromServer, 4, 4, 6, 3, 0)));
        RdmaCmEvent accepted = expect(clientEvents,
                RdmaCmEvent.EventType.RDMA_CM_EVENT_ESTABLISHED);
        expect(serverEvents, RdmaCmEvent.EventType.RDMA_CM_EVENT_ESTABLISHED);
        return new Connection(active, passive, verbs.parameters(request),
                verbs.parameters(accepted));
    }

    Connection connect() throws IOException {
        return connect(ByteBuffer.allocate(0), ByteBuffer.allocate(0));
    }

    static RdmaCmEvent expect(RdmaEventChannel channel, RdmaCmEvent.EventType type)
            throws IOException {
        RdmaCmEvent event = channel.getCmEvent(TIMEOUT_MILLIS);
        if (event == null) {
            throw new AssertionError("no event, wanted " + type);
        }
        event.ackEvent();
        if (VerbsExtensions.typeOf(event) != type) {
            throw new AssertionError("event " + VerbsExtensions.typeOf(event) + " with status "
                    + event.getStatus() + ", wanted " + type);
        }
        return event;
    }

    /** Both ends of a connection, and what each was told when it was made. */
    record Connection(RdmaCmId active, RdmaCmId passive, ConnectionParameters toServer,
            ConnectionParameters toClient) {
        IbvQP clientQueue() {
            return active.getQp();
        }

        IbvQP serverQueue() {
            return passive.getQp();
        }
    }

    /** Both sides say goodbye: without the passive one's the peer would wait for minutes. */
    void disconnect(Connection connection) throws IOException {
        connection.active.disconnect();
        expect(serverEvents, RdmaCmEvent.EventType.RDMA_CM_EVENT_DISCONNECTED);
        connection.passive.disconnect();
        expect(clientEvents, RdmaCmEvent.EventType.RDMA_CM_EVENT_DISCONNECTED);
        destroy(connection);
    }

    static void destroy(Connection connection) throws IOException {
        connection.active.destroyQP();
        connection.passive.destroyQP();
        connection.active.destroyId();
        connection.passive.destroyId();
    }

    /** RESET → INIT → RTR → RTS. */
    void ready(IbvQP queuePair, RdmaDevice device, IbvQP peer, RdmaDevice other)
            throws IOException {
        IbvQpAttr attributes = verbs.queuePairAttributes();
        attributes.setQp_state(IbvQP.IBV_QPS_INIT);
        attributes.setPort_num((byte) 1);
        attributes.setQp_access_flags(ACCESS);
        attributes.setQpAttrMask(QueuePairMask.STATE | QueuePairMask.PKEY_INDEX
                | QueuePairMask.PORT | QueuePairMask.ACCESS_FLAGS);
        verbs.modify(queuePair, attributes);

        attributes.setQp_state(IbvQP.IBV_QPS_RTR);
        attributes.setPath_mtu(3);
        attributes.setDest_qp_num(peer.getQp_num());
        attributes.setMax_dest_rd_atomic((byte) 1);
        attributes.setMin_rnr_timer((byte) 12);
        attributes.getAh_attr().setIs_global((byte) 1);
        attributes.getAh_attr().setPort_num((byte) 1);
        attributes.getAh_attr().getGrh().setDgid(gidOf(other).bytes());
        attributes.getAh_attr().getGrh().setHop_limit((byte) 64);
        attributes.getAh_attr().getGrh().setSgid_index((byte) gidOf(device).index());
        attributes.setQpAttrMask(QueuePairMask.STATE | QueuePairMask.AV | QueuePairMask.PATH_MTU
                | QueuePairMask.DEST_QPN | QueuePairMask.RQ_PSN | QueuePairMask.MAX_DEST_RD_ATOMIC
                | QueuePairMask.MIN_RNR_TIMER);
        verbs.modify(queuePair, attributes);

        attributes.setQp_state(IbvQP.IBV_QPS_RTS);
        attributes.setTimeout((byte) 16);
        attributes.setRetry_cnt((byte) 6);
        attributes.setRnr_retry((byte) 3);
        attributes.setMax_rd_atomic((byte) 1);
        attributes.setQpAttrMask(QueuePairMask.STATE | QueuePairMask.TIMEOUT
                | QueuePairMask.RETRY_CNT | QueuePairMask.RNR_RETRY | QueuePairMask.SQ_PSN
                | QueuePairMask.MAX_QP_RD_ATOMIC);
        verbs.modify(queuePair, attributes);
    }

    @Override
    public void close() throws IOException {
        listener.destroyId();
        server.close();
        client.close();
        serverEvents.destroyEventChannel();
        clientEvents.destroyEventChannel();
    }
}
