package io.railhead.os.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.IbvQpAttr;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import io.railhead.os.Descriptors;
import io.railhead.os.devices.RdmaDevices;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The extensions over rdma-core. */
final class ForeignExtensions implements VerbsExtensions {
    private static final Logger log = LoggerFactory.getLogger(ForeignExtensions.class);

    private final LibIbverbs ibverbs;
    private final LibRdmacm rdmacm;
    private final ForeignCm cm;
    private final ForeignVerbs verbs;
    /** The devices that librdmacm had at the last query, by names such as {@code uverbs0}. */
    private Set<String> devicesSeen = Set.of();
    private int opened;

    ForeignExtensions(LibIbverbs ibverbs, LibRdmacm rdmacm, ForeignCm cm, ForeignVerbs verbs) {
        this.ibverbs = ibverbs;
        this.rdmacm = rdmacm;
        this.cm = cm;
        this.verbs = verbs;
    }

    @Override
    public List<String> devices() throws IOException {
        List<String> names = new ArrayList<>();
        long list = deviceList();
        try {
            for (long entry = list; Memory.getLong(entry) != 0; entry += Long.BYTES) {
                names.add(nameOf(Memory.getLong(entry)));
            }
        } finally {
            free(list);
        }
        return names;
    }

    /**
     * Opens a device. A list marks every device as used, and librdmacm closes no used device: so
     * all but the opened one are released.
     */
    @Override
    public synchronized IbvContext open(String device) throws IOException {
        long list = deviceList();
        long kept = 0;
        try {
            kept = find(device, list);
            IbvContext context = new Foreign.Context(kept, true);
            Descriptors.setNonBlocking(asyncDescriptor(context));
            opened++;
            return context;
        } catch (IOException | RuntimeException | Error e) {
            kept = 0;
            throw e;
        } finally {
            freeAllBut(kept, list);
        }
    }

    private void freeAllBut(long kept, long list) {
        long end = list;
        for (long entry = list; Memory.getLong(entry) != 0; entry += Long.BYTES) {
            long context = Memory.getLong(entry);
            if (context != kept) {
                Memory.putLong(end, context);
                end += Long.BYTES;
            }
        }
        Memory.putLong(end, 0);
        free(list);
    }

    private long find(String device, long list) throws IOException {
        for (long entry = list; Memory.getLong(entry) != 0; entry += Long.BYTES) {
            long context = Memory.getLong(entry);
            if (nameOf(context).equals(device)) {
                requireNoIwarp(device, Memory.getLong(context + Layout.Context.DEVICE));
                return context;
            }
        }
        throw new VerbsUnavailableException("no RDMA device named " + device);
    }

    private static void requireNoIwarp(String device, long structure) throws IOException {
        int nodeType = Memory.getInt(structure + Layout.Device.NODE_TYPE);
        int transport = Memory.getInt(structure + Layout.Device.TRANSPORT_TYPE);
        if (transport == Layout.Constant.IBV_TRANSPORT_IWARP
                || nodeType == Layout.Constant.IBV_NODE_RNIC) {
            throw new VerbsUnavailableException(device
                    + " is iWARP, where a completed write does not mean that the bytes are placed");
        }
    }

    private synchronized long deviceList() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment count = arena.allocate(JAVA_INT);
            try {
                long list = NativeLibrary.pointerOf("rdma_get_devices",
                        state -> (long) rdmacm.getDevices.invokeExact(state, count));
                devicesSeen = characterDevices(list);
                return list;
            } catch (VerbsException e) {
                throw new VerbsUnavailableException("no RDMA device that rdma_cm can use ("
                        + e.getMessage() + "); is the module rdma_ucm loaded?");
            }
        }
    }

    private static Set<String> characterDevices(long list) {
        Set<String> names = new HashSet<>();
        for (long entry = list; Memory.getLong(entry) != 0; entry += Long.BYTES) {
            long device = Memory.getLong(Memory.getLong(entry) + Layout.Context.DEVICE);
            names.add(Memory.getString(device + Layout.Device.DEV_NAME));
        }
        return names;
    }

    private void free(long list) {
        NativeLibrary.run(state -> {
            rdmacm.freeDevices.invokeExact(state, list);
        });
    }

    private String nameOf(long context) throws IOException {
        long device = Memory.getLong(context + Layout.Context.DEVICE);
        return Memory.getString(NativeLibrary.pointerOf("ibv_get_device_name",
                state -> (long) ibverbs.getDeviceName.invokeExact(state, device)));
    }

    @Override
    public synchronized void close(IbvContext context) throws IOException {
        Foreign.Context ours = open(context);
        if (!ours.isCounted) {
            throw new IllegalArgumentException("this context belongs to its id");
        }
        long list = NativeLibrary.pointerOf("malloc",
                state -> (long) rdmacm.allocate.invokeExact(state, 2L * Long.BYTES));
        ours.close();
        opened--;
        Memory.putLong(list, ours.address);
        Memory.putLong(list + Long.BYTES, 0);
        free(list);
    }

    /**
     * Makes librdmacm close its contexts of removed devices. It opens every device, and checks them
     * again only when it lists them. A kernel whose driver cannot revoke a context completes the
     * removal only after the context is closed.
     */
    synchronized void releaseRemoved() {
        if (devicesSeen.stream().allMatch(RdmaDevices::hasCharacterDevice)) {
            return;
        }
        log.info("of {}, not all are there any more: librdmacm looks again", devicesSeen);
        try {
            free(deviceList());
        } catch (IOException e) {
            releaseLast(e);
        }
    }

    /**
     * Closes the kernel's ends of removed devices here: librdmacm closes none if no device is left.
     */
    private void releaseLast(IOException cause) {
        if (opened > 0 || RdmaDevices.hasCharacterDevices()) {
            log.debug("devices that have gone are closed later", cause);
            return;
        }
        int closed = VerbsDescriptors.detachAll();
        log.info("the last RDMA device has gone: {} descriptors closed", closed);
        devicesSeen = Set.of();
    }

    @Override
    public String deviceName(IbvContext context) throws IOException {
        return nameOf(open(context).address);
    }

    @Override
    public DeviceLimits limits(IbvContext context) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = arena.allocate(Layout.DeviceAttr.SIZE, Long.BYTES);
            NativeLibrary.check("ibv_query_device", state -> (int) ibverbs.queryDevice
                    .invokeExact(state, open(context).address, attr));
            return new DeviceLimits(signed(attr.get(JAVA_LONG, Layout.DeviceAttr.MAX_MR_SIZE)),
                    attr.get(JAVA_INT, Layout.DeviceAttr.MAX_QP),
                    attr.get(JAVA_INT, Layout.DeviceAttr.MAX_QP_WR),
                    attr.get(JAVA_INT, Layout.DeviceAttr.MAX_SGE),
                    attr.get(JAVA_INT, Layout.DeviceAttr.MAX_SGE_RD),
                    attr.get(JAVA_INT, Layout.DeviceAttr.MAX_CQ),
                    attr.get(JAVA_INT, Layout.DeviceAttr.MAX_CQE),
                    attr.get(JAVA_INT, Layout.DeviceAttr.MAX_MR),
                    attr.get(JAVA_INT, Layout.DeviceAttr.MAX_QP_RD_ATOM),
                    attr.get(JAVA_INT, Layout.DeviceAttr.MAX_QP_INIT_RD_ATOM));
        }
    }

    /** Returns an unsigned 64-bit number, capped to a signed one. */
    private static long signed(long value) {
        return value < 0 ? Long.MAX_VALUE : value;
    }

    @Override
    public PortAttributes port(IbvContext context, int port) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = arena.allocate(Layout.PortAttr.SIZE, Integer.BYTES);
            NativeLibrary.check("ibv_query_port", state -> (int) ibverbs.queryPort
                    .invokeExact(state, open(context).address, (byte) port, attr));
            return new PortAttributes(attr.get(JAVA_INT, Layout.PortAttr.STATE),
                    attr.get(JAVA_INT, Layout.PortAttr.ACTIVE_MTU),
                    attr.get(JAVA_INT, Layout.PortAttr.GID_TBL_LEN),
                    Short.toUnsignedInt(attr.get(JAVA_SHORT,
                            Layout.PortAttr.LID)),
                    attr.get(JAVA_BYTE,
                            Layout.PortAttr.LINK_LAYER));
        }
    }

    @Override
    public IbvMr register(IbvPd domain, long address, long bytes, int access)
            throws IOException {
        return verbs.register(domain, address, bytes, access);
    }

    @Override
    public void deregister(IbvMr registration) throws IOException {
        verbs.deregister(registration);
    }

    @Override
    public RdmaConnParam connParam(ConnectionParameters parameters) {
        return new Foreign.ConnParam(parameters);
    }

    @Override
    public ConnectionParameters parameters(RdmaCmEvent event) {
        return ((Foreign.CmEvent) event).parameters;
    }

    @Override
    public void reject(RdmaCmId id, ByteBuffer privateData) throws IOException {
        cm.reject(id, privateData);
    }

    @Override
    public void setAckTimeout(RdmaCmId id, int exponent) throws IOException {
        cm.setOption(id, Layout.Constant.RDMA_OPTION_ID_ACK_TIMEOUT, exponent, Byte.BYTES);
    }

    @Override
    public void setTypeOfService(RdmaCmId id, int typeOfService) throws IOException {
        cm.setOption(id, Layout.Constant.RDMA_OPTION_ID_TOS, typeOfService, Byte.BYTES);
    }

    @Override
    public void setReuseAddress(RdmaCmId id) throws IOException {
        cm.setOption(id, Layout.Constant.RDMA_OPTION_ID_REUSEADDR, 1, Integer.BYTES);
    }

    @Override
    public IbvQP createQueuePair(IbvPd domain, IbvQPInitAttr attributes) throws IOException {
        Foreign.requireOpen(domain.isOpen());
        long address = ((Foreign.ProtectionDomain) domain).address;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment structure = QueuePairStructures.initAttr(attributes, arena);
            long queuePair = NativeLibrary.pointerOf("ibv_create_qp",
                    state -> (long) ibverbs.createQp.invokeExact(state, address, structure));
            QueuePairStructures.readCapacity(structure, attributes);
            return new Foreign.QueuePair(queuePair, domain, attributes.getSend_cq(),
                    attributes.getRecv_cq(), attributes.getQp_type());
        }
    }

    @Override
    public void destroyQueuePair(IbvQP queuePair) throws IOException {
        Foreign.QueuePair ours = open(queuePair);
        ours.close();
        NativeLibrary.check("ibv_destroy_qp",
                state -> (int) ibverbs.destroyQp.invokeExact(state, ours.address));
    }

    @Override
    public IbvQpAttr queuePairAttributes() {
        return new Foreign.QueuePairAttributes();
    }

    @Override
    public void modify(IbvQP queuePair, IbvQpAttr attributes) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment structure = QueuePairStructures.attr(attributes, arena);
            NativeLibrary.check("ibv_modify_qp", state -> (int) ibverbs.modifyQp.invokeExact(
                    state, open(queuePair).address, structure, attributes.getQpAttrMask()));
        }
    }

    @Override
    public void toError(IbvQP queuePair) throws IOException {
        IbvQpAttr attributes = queuePairAttributes();
        attributes.setQp_state(IbvQP.IBV_QPS_ERR);
        attributes.setQpAttrMask(QueuePairMask.STATE);
        modify(queuePair, attributes);
    }

    @Override
    public IbvQpAttr connectionAttributes(RdmaCmId id, int state) throws IOException {
        return cm.connectionAttributes(id, state);
    }

    @Override
    public void establish(RdmaCmId id) throws IOException {
        cm.establish(id);
    }

    @Override
    public IbvQpAttr query(IbvQP queuePair, int mask) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = arena.allocate(Layout.QpAttr.SIZE, Long.BYTES);
            MemorySegment initAttr = arena.allocate(Layout.QpInitAttr.SIZE, Long.BYTES);
            NativeLibrary.check("ibv_query_qp", state -> (int) ibverbs.queryQp.invokeExact(
                    state, open(queuePair).address, attr, mask, initAttr));
            return QueuePairStructures.attributes(attr, mask);
        }
    }

    @Override
    public int asyncDescriptor(IbvContext context) {
        return open(context).asyncDescriptor();
    }

    @Override
    public @Nullable AsyncEvent nextAsyncEvent(IbvContext context) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment event = arena.allocate(Layout.AsyncEvent.SIZE, Long.BYTES);
            int errno = NativeLibrary.attempt(state -> (int) ibverbs.getAsyncEvent
                    .invokeExact(state, open(context).address, event));
            if (errno == NativeLibrary.EAGAIN) {
                return null;
            }
            if (errno != 0) {
                throw new VerbsException("ibv_get_async_event", errno);
            }
            AsyncEvent copy = copy(event);
            NativeLibrary.run(state -> {
                ibverbs.ackAsyncEvent.invokeExact(state, event);
            });
            return copy;
        }
    }

    private static AsyncEvent copy(MemorySegment event) {
        AsyncEvent.Type type = AsyncEvent.Type
                .of(event.get(JAVA_INT, Layout.AsyncEvent.EVENT_TYPE));
        if (type.isOfQueuePair()) {
            long queuePair = event.get(JAVA_LONG, Layout.AsyncEvent.ELEMENT);
            return new AsyncEvent(type, Memory.getInt(queuePair + Layout.Qp.QP_NUM));
        }
        return new AsyncEvent(type,
                type.isOfPort() ? event.get(JAVA_INT, Layout.AsyncEvent.ELEMENT) : 0);
    }

    @Override
    public PreparedSends prepareSends(int requests, int entriesPerRequest) {
        return new PreparedSends(requests, entriesPerRequest);
    }

    @Override
    public PreparedReceives prepareReceives(int requests, int entriesPerRequest) {
        return new PreparedReceives(requests, entriesPerRequest);
    }

    @Override
    public Completions completions(int capacity) {
        return new Completions(capacity);
    }

    @Override
    public String statusText(int status) throws IOException {
        return Memory.getString(NativeLibrary.pointerOf("ibv_wc_status_str",
                state -> (long) ibverbs.wcStatusStr.invokeExact(state, status)));
    }

    private static Foreign.Context open(IbvContext context) {
        Foreign.requireOpen(context.isOpen());
        return (Foreign.Context) context;
    }

    private static Foreign.QueuePair open(IbvQP queuePair) {
        Foreign.requireOpen(queuePair.isOpen());
        return Foreign.queuePair(queuePair);
    }
}
