package io.railhead.os.verbs;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvPd;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * An adapter in memory with the DC transport, its one port, and processes elsewhere that it
 * reaches. Everything above the library is the real code: this stands for libmlx5, libibverbs and
 * the adapter. Any thread. Needs rdma-core's libraries, as DiSNI's types do, and no device.
 *
 * <pre>
 *   FakeMlx5 adapter = FakeMlx5.open();
 *   IbvContext context = adapter.verbs().open(FakeMlx5.DEVICE);   and so on, as of a device
 *   FakePeer peer = adapter.peer(key);                            somebody with a target
 *   int rkey = peer.register(memory);
 * </pre>
 *
 * A posted request is done at once, on the posting thread, unless {@link #hold} or
 * {@link FakePeer#stall} keeps it: then it has touched nothing, and after a reset never will.
 */
public final class FakeMlx5 implements Mlx5, AutoCloseable {
    public static final String DEVICE = "mlx5_0";
    static final AddressVector NOWHERE = new AddressVector(1, 0, 0, 0, 0, true, 0, 0, 0, 0);
    private static final long PEERS = (FakeNic.GID_LOW & ~0xffffL) | 0x100;

    /**
     * A request as it was found in the initiator's functions.
     *
     * @param initiator its number
     * @param position among all that its initiator took since its last reset, from 0
     */
    public record Posted(int initiator, long position, boolean isWrite, long id, int flags,
            int rkey, long remote, int target, long key, AddressVector to, List<Entry> entries) {
        Posted to(AddressVector address, int number, long dcKey) {
            return new Posted(initiator, position, isWrite, id, flags, rkey, remote, number, dcKey,
                    address, entries);
        }

        Posted with(List<Entry> local) {
            return new Posted(initiator, position, isWrite, id, flags, rkey, remote, target, key,
                    to, List.copyOf(local));
        }

        public long bytes() {
            return entries.stream().mapToLong(Entry::bytes).sum();
        }
    }

    public record Entry(int lkey, long address, int bytes) {}

    private final FakeNic nic = new FakeNic();
    private final FakeLibrary library;
    private final FakeExtensions extensions;
    private final Mlx5 real;
    private int peers;

    private FakeMlx5(VerbsExtensions installed) throws IOException, ReflectiveOperationException {
        MemorySegment device = nic.arena.allocate(1024, Long.BYTES);
        library = new FakeLibrary(nic, device.address());
        extensions = new FakeExtensions(nic, device.address(), installed);
        NativeLibrary symbols = new NativeLibrary("a fake", library.symbols());
        real = new ForeignMlx5(new LibMlx5(symbols, symbols));
    }

    /**
     * @throws VerbsUnavailableException where rdma-core's libraries are not installed
     */
    public static FakeMlx5 open() throws IOException {
        VerbsExtensions installed = VerbsProvider.install();
        try {
            return new FakeMlx5(installed);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("the fake's own functions", e);
        }
    }

    /** The device {@link #DEVICE} alone; what is not about devices is the real library's. */
    public VerbsExtensions verbs() {
        return extensions.verbs();
    }

    /** Somebody new elsewhere, at an IPv4 GID of its own. */
    public FakePeer peer(long key) {
        synchronized (nic) {
            return peer(FakeNic.GID_HIGH, PEERS + peers++, key);
        }
    }

    /** Somebody new, at a GID of two numbers, as {@link AddressVector} has it. */
    public FakePeer peer(long gidHigh, long gidLow, long key) {
        FakePeer peer = new FakePeer(nic, nic.nextNumber(), gidHigh, gidLow, key);
        nic.add(peer);
        return peer;
    }

    /** Its own GID, as tokens have it: 32 lowercase hexadecimal digits. */
    public String gid() {
        return "%016x%016x".formatted(FakeNic.GID_HIGH, FakeNic.GID_LOW);
    }

    /** Nothing that is posted from now on is done until {@link #release}. */
    public void hold() {
        synchronized (nic) {
            nic.isHeld = true;
        }
    }

    /** Does what is held, in order, on this thread. */
    public void release() {
        synchronized (nic) {
            nic.isHeld = false;
            nic.runAll();
        }
    }

    /** From now on requests succeed and move nothing, so that they may be of any size. */
    public void moveNothing() {
        synchronized (nic) {
            nic.isMoving = false;
        }
    }

    /**
     * A call fails from now on, or, with errno 0, no longer.
     *
     * @param call as the failure's message begins: {@code mlx5dv_create_qp},
     *            {@code ibv_modify_qp to RESET}, {@code ibv_destroy_qp}, {@code ibv_create_ah} ...
     * @param errno what the failure has, unless the call returns a pointer
     */
    public void fail(String call, int errno) {
        synchronized (nic) {
            library.failing.put(call, errno);
        }
    }

    /** What the port is from now on; nobody is told. */
    public void setPort(PortAttributes port) {
        nic.port(port);
    }

    /** Tells of something by the device's descriptor. */
    public void raise(AsyncEvent event) {
        extensions.raise(event);
    }

    /** All that the adapter took so far, in order. */
    public List<Posted> posted() {
        synchronized (nic) {
            return List.copyOf(nic.posted);
        }
    }

    /** Requests that are posted and not done. */
    public int pending() {
        synchronized (nic) {
            return nic.initiators.values().stream().mapToInt(each -> each.pending.size()).sum();
        }
    }

    public int initiators() {
        synchronized (nic) {
            return nic.initiators.size();
        }
    }

    public int addressHandles() {
        synchronized (nic) {
            return nic.handles.size();
        }
    }

    /** Memory registered by {@link #verbs}. */
    public int registrations() {
        synchronized (nic) {
            return nic.registered.size();
        }
    }

    /** Protection domains, channels and completion queues of open contexts, and the contexts. */
    public int objects() {
        return extensions.objects();
    }

    @Override
    public boolean supports(IbvContext context) {
        return real.supports(context);
    }

    @Override
    public DcInitiator createInitiator(IbvPd domain, IbvCQ queue, DcInitiator.Capacity capacity)
            throws IOException {
        return real.createInitiator(domain, queue, capacity);
    }

    @Override
    public AddressHandle createAddressHandle(IbvPd domain, AddressVector to) throws IOException {
        return real.createAddressHandle(domain, to);
    }

    @Override
    public DcTarget createTarget(IbvPd domain, IbvCQ queue, DcTarget.Attributes attributes)
            throws IOException {
        return real.createTarget(domain, queue, attributes);
    }

    /**
     * After everything made from it.
     *
     * @throws IllegalStateException where the library was used wrongly meanwhile
     */
    @Override
    public void close() {
        extensions.close();
        synchronized (nic) {
            if (!nic.thrown.isEmpty()) {
                throw new IllegalStateException("the library was used wrongly",
                        nic.thrown.getFirst());
            }
        }
        nic.arena.close();
    }
}
