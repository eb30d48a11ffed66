package io.railhead.client.verbs;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import io.railhead.os.adapter.Adapter;
import io.railhead.os.adapter.CloseStack;
import io.railhead.os.adapter.CmLoop;
import io.railhead.os.adapter.MessageMemory;
import io.railhead.os.adapter.QueuePairConfig;
import io.railhead.os.adapter.QueuePairStates;
import io.railhead.os.verbs.ConnectionParameters;
import io.railhead.os.verbs.PreparedReceives;
import io.railhead.os.verbs.VerbsExtensions;
import io.railhead.os.verbs.VerbsProvider;
import io.railhead.protocol.message.Message;
import io.railhead.protocol.message.Message.Refused;
import io.railhead.protocol.message.MessageCodec;
import io.railhead.protocol.message.MessageException;
import io.railhead.protocol.message.MessageHeader;
import io.railhead.protocol.message.RefusedException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A client's connection: id, device, queue pair, completion queues, and registered memory. It owns
 * all of them. Sends and receives have separate completion queues, so that sender and receiver are
 * independent.
 */
public final class ClientConnection implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ClientConnection.class);
    private static final int SESSION_MESSAGES = 4;
    private static final int INLINE_BYTES = 256;
    private static final int REMOTE_ACCESS = IbvMr.IBV_ACCESS_REMOTE_WRITE
            | IbvMr.IBV_ACCESS_REMOTE_READ;
    private static final int ACCESS = IbvMr.IBV_ACCESS_LOCAL_WRITE | REMOTE_ACCESS;

    private final VerbsClientConfig config;
    private final VerbsExtensions verbs;
    private final CloseStack closeStack = new CloseStack();
    private final RdmaEventChannel events;
    private final RdmaCmId id;
    private final Adapter adapter;
    private final IbvCompChannel channel;
    private final IbvCQ received;
    private final IbvCQ sent;
    private final MessageMemory memory;
    private final IbvQP queuePair;
    private final int inlineBytes;
    private final ByteBuffer accepted;
    private final Set<IbvMr> registrations = new HashSet<>();
    private int unacknowledged;
    private boolean disconnected;

    /**
     * Connects.
     *
     * @param hello the message in the connection request
     * @throws RefusedException with the gateway's reason
     */
    public ClientConnection(VerbsClientConfig config, InetSocketAddress gateway, ByteBuffer hello)
            throws IOException {
        this.config = config;
        verbs = VerbsProvider.install();
        try {
            events = RdmaEventChannel.createEventChannel();
            closeStack.add(events::destroyEventChannel);
            id = events.createId(CmLoop.TCP_PORTS);
            closeStack.add(id::destroyId);
            resolve(gateway);
            adapter = Adapter.open(verbs, verbs.deviceName(id.getVerbs()));
            closeStack.add(adapter::close);
            closeStack.add(this::deregisterAll);
            channel = adapter.context().createCompChannel();
            closeStack.add(channel::destroyCompChannel);
            received = adapter.context().createCQ(channel, receives(), 0);
            closeStack.add(this::destroyReceived);
            sent = adapter.context().createCQ(null, sends(), 0);
            closeStack.add(sent::destroyCQ);
            memory = MessageMemory.register(adapter, receives() + 1 + sends(),
                    MessageHeader.MAX_MESSAGE_BYTES);
            closeStack.add(memory::close);
            IbvQPInitAttr attributes = attributes();
            queuePair = adapter.create(attributes);
            inlineBytes = attributes.cap().getMax_inline_data();
            closeStack.add(() -> verbs.destroyQueuePair(queuePair));
            QueuePairStates states = new QueuePairStates(verbs, config.queuePairs());
            states.toInit(id, queuePair, REMOTE_ACCESS);
            postReceives();
            accepted = connect(hello, states);
        } catch (IOException | RuntimeException | Error e) {
            closeStack.run(e);
            throw e;
        }
    }

    private void resolve(InetSocketAddress gateway) throws IOException {
        int millis = (int) config.timeout().toMillis();
        verbs.setAckTimeout(id, config.queuePairs().ackTimeout());
        if (config.queuePairs().trafficClass().isPresent()) {
            verbs.setTypeOfService(id, config.queuePairs().trafficClass().getAsInt());
        }
        id.resolveAddr(config.source() == null ? null : new InetSocketAddress(config.source(), 0),
                gateway, millis);
        var _ = await(EventType.RDMA_CM_EVENT_ADDR_RESOLVED);
        id.resolveRoute(millis);
        var _ = await(EventType.RDMA_CM_EVENT_ROUTE_RESOLVED);
    }

    private IbvQPInitAttr attributes() {
        IbvQPInitAttr attributes = new IbvQPInitAttr();
        attributes.setQp_type(IbvQP.IBV_QPT_RC);
        attributes.setSend_cq(sent);
        attributes.setRecv_cq(received);
        attributes.cap().setMax_send_wr(sends());
        attributes.cap().setMax_recv_wr(receives());
        attributes.cap().setMax_send_sge(1);
        attributes.cap().setMax_recv_sge(1);
        attributes.cap().setMax_inline_data(INLINE_BYTES);
        return attributes;
    }

    private void postReceives() throws IOException {
        try (PreparedReceives chain = verbs.prepareReceives(receives(), 1)) {
            for (int i = 0; i < receives(); i++) {
                addReceive(chain, i);
            }
            if (chain.post(queuePair) != receives()) {
                throw new IOException("receives were refused with errno " + chain.refusal());
            }
        }
    }

    void addReceive(PreparedReceives chain, int buffer) {
        chain.add(buffer)
                .entry(memory.address(buffer), memory.buffer(buffer).capacity(),
                        memory.localKey());
    }

    /** Connects; returns the message of the gateway's acceptance. */
    private ByteBuffer connect(ByteBuffer hello, QueuePairStates states) throws IOException {
        QueuePairConfig pairs = config.queuePairs();
        int reads = Math.min(255, Math.min(pairs.readDepth(), adapter.limits().responderReads()));
        id.connect(verbs.connParam(new ConnectionParameters(hello, reads, 0, pairs.retryCount(),
                pairs.rnrRetry(), queuePair.getQp_num())));
        RdmaCmEvent answer = await(EventType.RDMA_CM_EVENT_CONNECT_RESPONSE);
        states.toReady(id, queuePair, states.route(id), reads, 0);
        verbs.establish(id);
        return verbs.parameters(answer).privateData();
    }

    private RdmaCmEvent await(EventType wanted) throws IOException {
        RdmaCmEvent event = events.getCmEvent((int) config.timeout().toMillis());
        if (event == null) {
            throw new IOException("rdma_cm: no " + wanted + " in time");
        }
        EventType type = CmLoop.type(event);
        if (type == EventType.RDMA_CM_EVENT_REJECTED) {
            throw rejected(verbs.parameters(event).privateData(), event.getStatus());
        }
        if (type != wanted) {
            throw new IOException("rdma_cm: " + type + " with status " + event.getStatus()
                    + " in place of " + wanted);
        }
        return event;
    }

    private static IOException rejected(ByteBuffer said, int status) throws MessageException {
        Message message = said.hasRemaining() ? MessageCodec.decode(said) : null;
        return message instanceof Refused(var reason)
                ? new RefusedException(reason)
                : new IOException("the gateway did not accept the connection, status " + status);
    }

    VerbsExtensions verbs() {
        return verbs;
    }

    /** Returns the message of the gateway's acceptance. */
    public ByteBuffer accepted() {
        return accepted.duplicate();
    }

    public IbvQP queuePair() {
        return queuePair;
    }

    IbvCQ received() {
        return received;
    }

    IbvCQ sent() {
        return sent;
    }

    MessageMemory memory() {
        return memory;
    }

    /**
     * Returns the number of receives posted at all times, in the first buffers; the next buffer is
     * spare.
     */
    public int receives() {
        return config.maxRequests() + SESSION_MESSAGES;
    }

    /** Returns the most sends at a time, from the last buffers. */
    int sends() {
        return 2 * config.maxRequests() + SESSION_MESSAGES;
    }

    int inlineBytes() {
        return inlineBytes;
    }

    /** Returns a descriptor that is readable after a receive has completed on the armed queue. */
    int receiveDescriptor() {
        return channel.getFd();
    }

    /** Returns a descriptor that is readable after an event of the connection. */
    int eventDescriptor() {
        return events.getFd();
    }

    /** Takes the completion events so far. Receiver only. */
    void takeCompletionEvents() throws IOException {
        while (channel.getCqEvent(received, 0)) {
            unacknowledged++;
        }
    }

    private void destroyReceived() throws IOException {
        received.ackEvents(unacknowledged);
        received.destroyCQ();
    }

    /**
     * Returns whether the gateway has disconnected; then it touches nothing on this side any more.
     * Any thread.
     */
    synchronized boolean isDisconnected() throws IOException {
        for (RdmaCmEvent event = events.getCmEvent(0); event != null; event = events
                .getCmEvent(0)) {
            EventType type = CmLoop.type(event);
            log.debug("rdma_cm: {}", type);
            disconnected |= type == EventType.RDMA_CM_EVENT_DISCONNECTED
                    || type == EventType.RDMA_CM_EVENT_DEVICE_REMOVAL;
        }
        return disconnected;
    }

    /**
     * Breaks the connection, so that the gateway touches nothing on this side any more. Any thread.
     */
    void breakOff() {
        IOException failure = Adapter.tryRun(null, () -> verbs.toError(queuePair));
        failure = Adapter.tryRun(failure, () -> {
            int _ = id.disconnect();
        });
        if (failure != null) {
            log.debug("connection broken off", failure);
        }
    }

    synchronized IbvMr register(MemorySegment registered) throws IOException {
        IbvMr registration = adapter.register(registered, ACCESS);
        registrations.add(registration);
        return registration;
    }

    synchronized void deregister(IbvMr registration) throws IOException {
        if (registrations.remove(registration)) {
            verbs.deregister(registration);
        }
    }

    /** Returns how many buffers the adapter may touch now. */
    synchronized int registrations() {
        return registrations.size();
    }

    private synchronized void deregisterAll() throws IOException {
        @Nullable
        IOException failure = null;
        for (IbvMr registration : registrations) {
            failure = Adapter.tryRun(failure, () -> verbs.deregister(registration));
        }
        registrations.clear();
        if (failure != null) {
            throw failure;
        }
    }

    /** Closes everything, once, after the last use. */
    @Override
    public void close() {
        IOException failure = new IOException("not all of a connection could be given back");
        closeStack.run(failure);
        if (failure.getSuppressed().length > 0) {
            log.warn("verbs peer", failure);
        }
    }
}
