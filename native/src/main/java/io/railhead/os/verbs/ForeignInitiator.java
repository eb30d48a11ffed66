package io.railhead.os.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import com.ibm.disni.verbs.IbvQP;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * An initiator whose requests are built by the functions that its structures point to.
 *
 * <pre>
 *   struct ibv_qp_ex       struct ibv_qp, wr_id, wr_flags, wr_rdma_write ... wr_abort
 *   struct mlx5dv_qp_ex    wr_set_dc_addr
 * </pre>
 *
 * The library replaces some of them at a state change, wr_complete above all, so they are read
 * again after each change.
 */
final class ForeignInitiator implements DcInitiator {
    private static final int NUMBER_BITS = 24;

    private final DcQueuePair queuePair;
    private final long extended;
    private final long direct;
    /** The part of struct ibv_qp_ex behind struct ibv_qp. */
    private final MemorySegment fields;
    private Functions functions;

    private record Functions(MemorySegment start, MemorySegment complete, MemorySegment abort,
            MemorySegment write, MemorySegment read, MemorySegment setSge,
            MemorySegment setSgeList, MemorySegment setDcAddr) {}

    /** Takes over the queue pair; after a failure it stays the caller's. */
    ForeignInitiator(LibMlx5 library, DcQueuePair queuePair) throws IOException {
        this.queuePair = queuePair;
        extended = NativeLibrary.pointerOf("ibv_qp_to_qp_ex",
                state -> (long) library.qpToQpEx.invokeExact(state, queuePair.address));
        direct = NativeLibrary.pointerOf("mlx5dv_qp_ex_from_ibv_qp_ex",
                state -> (long) library.qpExFromIbvQpEx.invokeExact(state, extended));
        fields = Memory.view(extended + Layout.Qp.size(System.getProperty("os.arch")),
                Layout.QpEx.WR_ABORT + Long.BYTES);
        functions = readFunctions();
    }

    private Functions readFunctions() {
        return new Functions(function(Layout.QpEx.WR_START), function(Layout.QpEx.WR_COMPLETE),
                function(Layout.QpEx.WR_ABORT), function(Layout.QpEx.WR_RDMA_WRITE),
                function(Layout.QpEx.WR_RDMA_READ), function(Layout.QpEx.WR_SET_SGE),
                function(Layout.QpEx.WR_SET_SGE_LIST), NativeLibrary.functionAt(
                        Memory.getLong(direct + Layout.Mlx5QpEx.WR_SET_DC_ADDR)));
    }

    private MemorySegment function(long offset) {
        return NativeLibrary.functionAt(fields.get(JAVA_LONG, offset));
    }

    @Override
    public int number() {
        return queuePair.number();
    }

    @Override
    public void connect(Path path) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            modify("INIT", DcStructures.initiatorInit(path, arena),
                    DcStructures.INITIATOR_INIT);
            modify("RTR", DcStructures.initiatorRtr(path, arena), DcStructures.INITIATOR_RTR);
            modify("RTS", DcStructures.initiatorRts(path, arena), DcStructures.INITIATOR_RTS);
        }
    }

    @Override
    public void reset() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            modify("RESET", DcStructures.state(IbvQP.IBV_QPS_RESET, arena), QueuePairMask.STATE);
        }
    }

    private void modify(String state, MemorySegment attr, int mask) throws IOException {
        queuePair.modify(state, attr, mask);
        functions = readFunctions();
    }

    @Override
    public void start() {
        queuePair.requireOpen();
        try {
            LibMlx5.WR_START_OR_ABORT.invokeExact(functions.start, extended);
        } catch (Throwable e) {
            throw Foreign.thrownBy(e);
        }
    }

    @Override
    public void write(long requestId, int flags, int rkey, long remote) {
        append(functions.write, requestId, flags, rkey, remote);
    }

    @Override
    public void read(long requestId, int flags, int rkey, long remote) {
        append(functions.read, requestId, flags, rkey, remote);
    }

    private void append(MemorySegment function, long requestId, int flags, int rkey,
            long remote) {
        queuePair.requireOpen();
        fields.set(JAVA_LONG, Layout.QpEx.WR_ID, requestId);
        fields.set(JAVA_INT, Layout.QpEx.WR_FLAGS, flags);
        try {
            LibMlx5.WR_RDMA.invokeExact(function, extended, rkey, remote);
        } catch (Throwable e) {
            throw Foreign.thrownBy(e);
        }
    }

    @Override
    public void target(AddressHandle handle, int number, long key) {
        queuePair.requireOpen();
        if (number >>> NUMBER_BITS != 0) {
            throw new IllegalArgumentException("number must have 24 bits: " + number);
        }
        long address = ((ForeignAddressHandle) handle).address();
        try {
            LibMlx5.WR_SET_DC_ADDR.invokeExact(functions.setDcAddr, direct, address, number, key);
        } catch (Throwable e) {
            throw Foreign.thrownBy(e);
        }
    }

    @Override
    public void entry(int lkey, long address, int bytes) {
        queuePair.requireOpen();
        requireMovable(bytes);
        try {
            LibMlx5.WR_SET_SGE.invokeExact(functions.setSge, extended, lkey, address, bytes);
        } catch (Throwable e) {
            throw Foreign.thrownBy(e);
        }
    }

    @Override
    public void entries(ScatterList list) {
        queuePair.requireOpen();
        requireMovable(list.bytes());
        try {
            LibMlx5.WR_SET_SGE_LIST.invokeExact(functions.setSgeList, extended,
                    (long) list.size(), list.address());
        } catch (Throwable e) {
            throw Foreign.thrownBy(e);
        }
    }

    private static void requireMovable(long bytes) {
        if (bytes < 0 || bytes > MAX_BYTES) {
            throw new IllegalArgumentException(
                    "bytes must be 0 to " + MAX_BYTES + ": " + bytes);
        }
    }

    @Override
    public int complete() {
        queuePair.requireOpen();
        try {
            return (int) LibMlx5.WR_COMPLETE.invokeExact(functions.complete, extended);
        } catch (Throwable e) {
            throw Foreign.thrownBy(e);
        }
    }

    @Override
    public void abort() {
        queuePair.requireOpen();
        try {
            LibMlx5.WR_START_OR_ABORT.invokeExact(functions.abort, extended);
        } catch (Throwable e) {
            throw Foreign.thrownBy(e);
        }
    }

    @Override
    public void close() throws IOException {
        queuePair.destroy();
    }
}
