package io.railhead.os.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.IbvQpAttr;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import com.ibm.disni.verbs.RdmaEventChannel;
import io.railhead.os.Descriptors;
import io.railhead.os.PollSet;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * DiSNI's connection manager over librdmacm. Event channels do not block: {@link #getCmEvent} waits
 * in poll(2), and with timeout 0 not at all. A thread can call it from its own poll set. An event
 * is copied and acknowledged at once, so {@code ackEvent} does nothing and destroying an id never
 * waits for it.
 */
final class ForeignCm extends RdmaCm {
    private final LibRdmacm library;

    ForeignCm(LibRdmacm library) {
        this.library = library;
    }

    @Override
    public RdmaEventChannel createEventChannel() throws IOException {
        long address = NativeLibrary.pointerOf("rdma_create_event_channel",
                state -> (long) library.createEventChannel.invokeExact(state));
        Foreign.EventChannel channel = new Foreign.EventChannel(address);
        Descriptors.setNonBlocking(channel.getFd());
        return channel;
    }

    @Override
    public int destroyEventChannel(RdmaEventChannel cmChannel) throws IOException {
        Foreign.EventChannel channel = open(cmChannel);
        channel.close();
        NativeLibrary.run(state -> {
            library.destroyEventChannel.invokeExact(state, channel.address);
        });
        return 0;
    }

    @Override
    public RdmaCmId createId(RdmaEventChannel cmChannel, short portSpace) throws IOException {
        Foreign.EventChannel channel = open(cmChannel);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment result = arena.allocate(JAVA_LONG);
            NativeLibrary.check("rdma_create_id",
                    state -> (int) library.createId.invokeExact(state, channel.address, result,
                            0L, (int) portSpace));
            return adopt(result.get(JAVA_LONG, 0), channel);
        }
    }

    private static Foreign.CmId adopt(long address, Foreign.EventChannel channel)
            throws IOException {
        Foreign.CmId id = new Foreign.CmId(address, channel);
        channel.ids.put(address, id);
        return id;
    }

    @Override
    public int destroyCmId(RdmaCmId cmId) throws IOException {
        Foreign.CmId id = open(cmId);
        id.close();
        id.channel().ids.remove(id.address);
        NativeLibrary.check("rdma_destroy_id",
                state -> (int) library.destroyId.invokeExact(state, id.address));
        return 0;
    }

    @Override
    public void bindAddr(RdmaCmId cmId, SocketAddress local) throws IOException {
        Foreign.CmId id = open(cmId);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment address = SocketAddresses.encode(local, arena);
            NativeLibrary.check("rdma_bind_addr",
                    state -> (int) library.bindAddr.invokeExact(state, id.address, address));
        }
    }

    @Override
    public void listen(RdmaCmId cmId, int backlog) throws IOException {
        Foreign.CmId id = open(cmId);
        NativeLibrary.check("rdma_listen",
                state -> (int) library.listen.invokeExact(state, id.address, backlog));
    }

    @Override
    public void resolveAddr(RdmaCmId cmId, @Nullable SocketAddress source,
            SocketAddress destination, int timeoutMillis) throws IOException {
        Foreign.CmId id = open(cmId);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment from = SocketAddresses.encode(source, arena);
            MemorySegment to = SocketAddresses.encode(destination, arena);
            NativeLibrary.check("rdma_resolve_addr",
                    state -> (int) library.resolveAddr.invokeExact(state, id.address, from, to,
                            timeoutMillis));
        }
    }

    @Override
    public void resolveRoute(RdmaCmId cmId, int timeoutMillis) throws IOException {
        Foreign.CmId id = open(cmId);
        NativeLibrary.check("rdma_resolve_route",
                state -> (int) library.resolveRoute.invokeExact(state, id.address,
                        timeoutMillis));
    }

    @Override
    public IbvQP createQP(RdmaCmId cmId, IbvPd pd, IbvQPInitAttr attributes) throws IOException {
        Foreign.CmId id = open(cmId);
        Foreign.ProtectionDomain domain = (Foreign.ProtectionDomain) pd;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment structure = QueuePairStructures.initAttr(attributes, arena);
            NativeLibrary.check("rdma_create_qp",
                    state -> (int) library.createQp.invokeExact(state, id.address,
                            domain.address, structure));
            QueuePairStructures.readCapacity(structure, attributes);
        }
        Foreign.QueuePair created = new Foreign.QueuePair(
                Memory.getLong(id.address + Layout.CmId.QP), domain, attributes.getSend_cq(),
                attributes.getRecv_cq(), attributes.getQp_type());
        id.queuePair(created);
        return created;
    }

    @Override
    public int destroyQP(RdmaCmId cmId) throws IOException {
        Foreign.CmId id = open(cmId);
        IbvQP queuePair = id.getQp();
        if (queuePair == null) {
            throw new IllegalStateException("the id has no queue pair");
        }
        Foreign.requireOpen(queuePair.isOpen());
        queuePair.close();
        NativeLibrary.run(state -> {
            library.destroyQp.invokeExact(state, id.address);
        });
        return 0;
    }

    @Override
    public void connect(RdmaCmId cmId, RdmaConnParam parameters) throws IOException {
        Foreign.CmId id = open(cmId);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment structure = encode(parameters, arena);
            NativeLibrary.check("rdma_connect",
                    state -> (int) library.connect.invokeExact(state, id.address, structure));
        }
    }

    @Override
    public void accept(RdmaCmId cmId, RdmaConnParam parameters) throws IOException {
        Foreign.CmId id = open(cmId);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment structure = encode(parameters, arena);
            NativeLibrary.check("rdma_accept",
                    state -> (int) library.accept.invokeExact(state, id.address, structure));
        }
    }

    void reject(RdmaCmId cmId, ByteBuffer privateData) throws IOException {
        Foreign.CmId id = open(cmId);
        int bytes = privateData.remaining();
        if (bytes > 255) {
            throw new IllegalArgumentException("privateData.remaining must be <= 255: " + bytes);
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment copy = copy(privateData, arena);
            NativeLibrary.check("rdma_reject", state -> (int) library.reject.invokeExact(state,
                    id.address, copy, (byte) bytes));
        }
    }

    private static MemorySegment copy(ByteBuffer bytes, Arena arena) {
        return arena.allocate(bytes.remaining()).copyFrom(MemorySegment.ofBuffer(bytes));
    }

    void setOption(RdmaCmId cmId, int option, int value, long valueBytes) throws IOException {
        Foreign.CmId id = open(cmId);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocateFrom(JAVA_INT, value);
            NativeLibrary.check("rdma_set_option",
                    state -> (int) library.setOption.invokeExact(state, id.address,
                            Layout.Constant.RDMA_OPTION_ID, option, bytes, valueBytes));
        }
    }

    IbvQpAttr connectionAttributes(RdmaCmId cmId, int state) throws IOException {
        Foreign.CmId id = open(cmId);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment structure = arena.allocate(Layout.QpAttr.SIZE, Long.BYTES);
            MemorySegment mask = arena.allocate(JAVA_INT);
            structure.set(JAVA_INT, Layout.QpAttr.QP_STATE, state);
            NativeLibrary.check("rdma_init_qp_attr", call -> (int) library.initQpAttr
                    .invokeExact(call, id.address, structure, mask));
            // Kernels set internal bits, which modify_qp refuses.
            return QueuePairStructures.attributes(structure,
                    mask.get(JAVA_INT, 0) & QueuePairMask.KNOWN);
        }
    }

    void establish(RdmaCmId cmId) throws IOException {
        Foreign.CmId id = open(cmId);
        NativeLibrary.check("rdma_establish",
                state -> (int) library.establish.invokeExact(state, id.address));
    }

    /** Disconnects; returns the errno, 0 on success: a peer that is gone is no failure. */
    @Override
    public int disconnect(RdmaCmId cmId) {
        Foreign.CmId id = open(cmId);
        return NativeLibrary.attempt(
                state -> (int) library.disconnect.invokeExact(state, id.address));
    }

    /**
     * Returns the next event; null if none came in time. It may return null earlier, after an event
     * of an id that is being destroyed.
     *
     * @param timeoutMillis 0 for no wait, -1 for no limit
     */
    @Override
    public @Nullable RdmaCmEvent getCmEvent(RdmaEventChannel cmChannel, int timeoutMillis)
            throws IOException {
        Foreign.EventChannel channel = open(cmChannel);
        if (timeoutMillis != 0 && !awaitEvent(channel, timeoutMillis)) {
            return null;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment result = arena.allocate(JAVA_LONG);
            int errno = NativeLibrary.attempt(state -> (int) library.getCmEvent
                    .invokeExact(state, channel.address, result));
            if (errno == NativeLibrary.EAGAIN) {
                return null;
            }
            if (errno != 0) {
                throw new VerbsException("rdma_get_cm_event", errno);
            }
            return take(result.get(JAVA_LONG, 0), channel);
        }
    }

    private static boolean awaitEvent(Foreign.EventChannel channel, int timeoutMillis) {
        try (PollSet set = new PollSet(channel.getFd())) {
            return set.await(timeoutMillis) > 0;
        }
    }

    private @Nullable RdmaCmEvent take(long event, Foreign.EventChannel channel)
            throws IOException {
        try {
            return copy(event, channel);
        } finally {
            NativeLibrary.check("rdma_ack_cm_event",
                    state -> (int) library.ackCmEvent.invokeExact(state, event));
        }
    }

    /** Returns null for an unknown id that is no new one: another thread is destroying it. */
    private static @Nullable RdmaCmEvent copy(long event, Foreign.EventChannel channel)
            throws IOException {
        int type = Memory.getInt(event + Layout.CmEvent.EVENT);
        long address = Memory.getLong(event + Layout.CmEvent.ID);
        Foreign.CmId id = type == Layout.Constant.RDMA_CM_EVENT_CONNECT_REQUEST
                ? adopt(address, channel)
                : channel.ids.get(address);
        return id == null
                ? null
                : new Foreign.CmEvent(type, Memory.getInt(event + Layout.CmEvent.STATUS),
                        channel.ids.get(Memory.getLong(event + Layout.CmEvent.LISTEN_ID)), id,
                        decode(event + Layout.CmEvent.CONN));
    }

    @Override
    public int ackCmEvent(RdmaCmEvent cmEvent) {
        return 0;
    }

    @Override
    public @Nullable SocketAddress getSrcAddr(RdmaCmId cmId) throws IOException {
        return SocketAddresses.decode(Memory.view(open(cmId).address + Layout.CmId.SRC_ADDR,
                Layout.SockAddr.SIZE));
    }

    @Override
    public @Nullable SocketAddress getDstAddr(RdmaCmId cmId) throws IOException {
        return SocketAddresses.decode(Memory.view(open(cmId).address + Layout.CmId.DST_ADDR,
                Layout.SockAddr.SIZE));
    }

    /** Destroys the id, with its queue pair if it still has one. */
    @Override
    public int destroyEp(RdmaCmId cmId) throws IOException {
        Foreign.CmId id = open(cmId);
        if (id.getQp() != null && id.getQp().isOpen()) {
            destroyQP(id);
        }
        return destroyCmId(id);
    }

    private static MemorySegment encode(RdmaConnParam parameters, Arena arena) {
        MemorySegment structure = arena.allocate(Layout.ConnParam.SIZE, Long.BYTES);
        long privateData = parameters instanceof Foreign.ConnParam ours
                ? copy(ours.parameters.privateData(), arena).address()
                : parameters.getPrivate_data();
        structure.set(JAVA_LONG, Layout.ConnParam.PRIVATE_DATA, privateData);
        structure.set(JAVA_BYTE, Layout.ConnParam.PRIVATE_DATA_LEN,
                parameters.getPrivate_data_len());
        structure.set(JAVA_BYTE, Layout.ConnParam.RESPONDER_RESOURCES,
                parameters.getResponder_resources());
        structure.set(JAVA_BYTE, Layout.ConnParam.INITIATOR_DEPTH,
                parameters.getInitiator_depth());
        structure.set(JAVA_BYTE, Layout.ConnParam.FLOW_CONTROL, parameters.getFlow_control());
        structure.set(JAVA_BYTE, Layout.ConnParam.RETRY_COUNT, parameters.getRetry_count());
        structure.set(JAVA_BYTE, Layout.ConnParam.RNR_RETRY_COUNT,
                parameters.getRnr_retry_count());
        structure.set(JAVA_INT, Layout.ConnParam.QP_NUM, parameters.getQp_num());
        return structure;
    }

    /**
     * Decodes parameters. Every event has room for them; events without a connection leave it zero.
     */
    private static ConnectionParameters decode(long parameters) {
        long data = Memory.getLong(parameters + Layout.ConnParam.PRIVATE_DATA);
        int bytes = unsigned(parameters + Layout.ConnParam.PRIVATE_DATA_LEN);
        ByteBuffer privateData = data == 0 || bytes == 0
                ? ByteBuffer.allocate(0)
                : Memory.view(data, bytes).asByteBuffer();
        return new ConnectionParameters(privateData,
                unsigned(parameters + Layout.ConnParam.RESPONDER_RESOURCES),
                unsigned(parameters + Layout.ConnParam.INITIATOR_DEPTH),
                unsigned(parameters + Layout.ConnParam.RETRY_COUNT) & 7,
                unsigned(parameters + Layout.ConnParam.RNR_RETRY_COUNT) & 7,
                Memory.getInt(parameters + Layout.ConnParam.QP_NUM));
    }

    private static int unsigned(long address) {
        return Byte.toUnsignedInt(Memory.getByte(address));
    }

    private static Foreign.EventChannel open(RdmaEventChannel channel) {
        Foreign.requireOpen(channel.isOpen());
        return (Foreign.EventChannel) channel;
    }

    private static Foreign.CmId open(RdmaCmId id) {
        Foreign.requireOpen(id.isOpen());
        return (Foreign.CmId) id;
    }
}
