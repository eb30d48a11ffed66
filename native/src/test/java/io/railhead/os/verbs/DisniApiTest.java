package io.railhead.os.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import com.ibm.disni.verbs.RdmaEventChannel;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCPostSend;
import com.ibm.disni.verbs.SVCReqNotify;
import io.railhead.os.devices.RdmaDevice;
import io.railhead.os.devices.RdmaDevices;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.LinkedList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * A program as others write it: once the provider is installed, DiSNI's own API and nothing else.
 */
@RequiresVerbs
final class DisniApiTest {
    private static final int TIMEOUT_MILLIS = 30_000;

    @Test
    void aProgramOfDisnisApiAloneSendsReceivesAndWrites() throws Exception {
        VerbsProvider.FOREIGN.install();
        List<RdmaDevice> devices = RdmaDevices.read();
        RdmaEventChannel serverEvents = RdmaEventChannel.createEventChannel();
        RdmaEventChannel clientEvents = RdmaEventChannel.createEventChannel();
        RdmaCmId listener = serverEvents.createId(RdmaCm.RDMA_PS_TCP);
        listener.bindAddr(new InetSocketAddress(
                VerbsLink.addressOf(devices.getFirst()), 0));
        listener.listen(10);

        RdmaCmId active = clientEvents.createId(RdmaCm.RDMA_PS_TCP);
        active.resolveAddr(new InetSocketAddress(
                VerbsLink.addressOf(devices.getLast()), 0), listener.getSource(),
                VerbsLink.RESOLVE_MILLIS);
        await(clientEvents, RdmaCmEvent.EventType.RDMA_CM_EVENT_ADDR_RESOLVED);
        active.resolveRoute(VerbsLink.RESOLVE_MILLIS);
        await(clientEvents, RdmaCmEvent.EventType.RDMA_CM_EVENT_ROUTE_RESOLVED);
        Node client = new Node(active);
        client.postReceive(11);
        RdmaConnParam parameters = new RdmaConnParam();
        parameters.setRetry_count((byte) 6);
        parameters.setRnr_retry_count((byte) 3);
        active.connect(parameters);
        RdmaCmId passive = await(serverEvents,
                RdmaCmEvent.EventType.RDMA_CM_EVENT_CONNECT_REQUEST).getConnIdPriv();
        Node server = new Node(passive);
        passive.accept(parameters);
        await(clientEvents, RdmaCmEvent.EventType.RDMA_CM_EVENT_ESTABLISHED);
        await(serverEvents, RdmaCmEvent.EventType.RDMA_CM_EVENT_ESTABLISHED);

        server.buffer.putLong(0, 0x1122334455667788L).putLong(8, 99);
        server.write(client);

        IbvWC received = client.sleepAndPoll();
        assertThat(received.getStatus()).isZero();
        assertThat(received.getWr_id()).isEqualTo(11);
        assertThat(received.getOpcode()).isEqualTo(IbvWC.IbvWcOpcode.IBV_WC_RECV.getOpcode());
        assertThat(received.getByte_len()).isEqualTo(8);
        assertThat(received.getImm_data()).isEqualTo(0x01020304);
        assertThat(client.buffer.getLong(0)).as("sent").isEqualTo(99);
        assertThat(client.buffer.getLong(64)).as("written").isEqualTo(0x1122334455667788L);

        active.disconnect();
        await(serverEvents, RdmaCmEvent.EventType.RDMA_CM_EVENT_DISCONNECTED);
        passive.disconnect();
        await(clientEvents, RdmaCmEvent.EventType.RDMA_CM_EVENT_DISCONNECTED);
        client.close();
        server.close();
        listener.destroyId();
        serverEvents.destroyEventChannel();
        clientEvents.destroyEventChannel();
    }

    private static RdmaCmEvent await(RdmaEventChannel channel, RdmaCmEvent.EventType type)
            throws IOException {
        RdmaCmEvent event = channel.getCmEvent(TIMEOUT_MILLIS);
        assertThat(event).isNotNull();
        assertThat(List.of(RdmaCmEvent.EventType.values()).get(event.getEvent())).isEqualTo(type);
        event.ackEvent();
        return event;
    }

    /** DiSNI asks for lists that are linked. */
    @SuppressWarnings("JdkObsolete")
    private static final class Node {
        final ByteBuffer buffer = ByteBuffer.allocateDirect(4096);
        private final RdmaCmId id;
        private final IbvPd domain;
        private final IbvCompChannel channel;
        private final IbvCQ queue;
        private final IbvQP queuePair;
        private final IbvMr registration;
        private final IbvWC[] completions = {new IbvWC(), new IbvWC()};

        Node(RdmaCmId id) throws IOException {
            this.id = id;
            domain = id.getVerbs().allocPd();
            channel = id.getVerbs().createCompChannel();
            queue = id.getVerbs().createCQ(channel, 50, 0);
            SVCReqNotify notify = queue.reqNotification(false);
            notify.execute().free();
            IbvQPInitAttr attributes = new IbvQPInitAttr();
            attributes.cap().setMax_recv_sge(1);
            attributes.cap().setMax_recv_wr(10);
            attributes.cap().setMax_send_sge(1);
            attributes.cap().setMax_send_wr(10);
            attributes.setQp_type(IbvQP.IBV_QPT_RC);
            attributes.setRecv_cq(queue);
            attributes.setSend_cq(queue);
            queuePair = id.createQP(domain, attributes);
            registration = domain.regMr(buffer, IbvMr.IBV_ACCESS_LOCAL_WRITE
                    | IbvMr.IBV_ACCESS_REMOTE_WRITE).execute().free().getMr();
        }

        private IbvSge entry(long offset) {
            IbvSge entry = new IbvSge();
            entry.setAddr(registration.getAddr() + offset);
            entry.setLength(8);
            entry.setLkey(registration.getLkey());
            return entry;
        }

        void postReceive(long workRequestId) throws IOException {
            IbvRecvWR receive = new IbvRecvWR();
            receive.setSg_list(new LinkedList<>(List.of(entry(0))));
            receive.setWr_id(workRequestId);
            queuePair.postRecv(List.of(receive), null).execute().free();
        }

        /** A write behind which a send follows, their fields set after they were prepared. */
        void write(Node peer) throws IOException {
            IbvSendWR write = new IbvSendWR();
            write.setSg_list(new LinkedList<>(List.of(entry(0))));
            write.setOpcode(IbvSendWR.IBV_WR_RDMA_WRITE);
            IbvSendWR send = new IbvSendWR();
            send.setSg_list(new LinkedList<>(List.of(entry(0))));
            send.setOpcode(IbvSendWR.IBV_WR_SEND_WITH_IMM);
            send.setImm_data(0x01020304);
            send.setSend_flags(IbvSendWR.IBV_SEND_SIGNALED);
            SVCPostSend post = queuePair.postSend(List.of(write, send), null);
            post.getWrMod(0).getRdmaMod().setRemote_addr(peer.registration.getAddr() + 64);
            post.getWrMod(0).getRdmaMod().setRkey(peer.registration.getRkey());
            post.getWrMod(1).getSgeMod(0).setAddr(registration.getAddr() + 8);
            post.getWrMod(1).setWr_id(22);
            post.execute().free();
        }

        IbvWC sleepAndPoll() throws IOException {
            assertThat(channel.getCqEvent(queue, TIMEOUT_MILLIS)).isTrue();
            queue.ackEvents(1);
            SVCPollCq poll = queue.poll(completions, completions.length);
            assertThat(poll.execute().getPolls()).isEqualTo(1);
            poll.free();
            return completions[0];
        }

        void close() throws Exception {
            id.destroyQP();
            registration.deregMr().execute().free();
            queue.destroyCQ();
            channel.destroyCompChannel();
            domain.deallocPd();
            id.destroyId();
        }
    }
}
