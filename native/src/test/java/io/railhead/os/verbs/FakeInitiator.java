package io.railhead.os.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.util.Objects.requireNonNull;

import com.ibm.disni.verbs.IbvQP;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair's structures in memory, and the functions that they point to, which take requests as
 * libmlx5 does: a chain that was begun wrongly or does not fit is refused as a whole.
 */
final class FakeInitiator {
    private static final int ENOMEM = 12;
    private static final int SIGNALED = 2;
    private static final long DIRECT = 512;
    private static final long BYTES = 1024;

    final long address;
    final FakeContext.Domain domain;
    final FakeContext.Queue queue;
    final int number;
    final Deque<FakeMlx5.Posted> pending = new ArrayDeque<>();
    int state = IbvQP.IBV_QPS_RESET;
    int mtuBytes;
    private final FakeNic nic;
    private final MemorySegment structure;
    private final MemorySegment extended;
    /** Two of wr_complete. */
    private final long refusing;
    private final long completing;
    private final int maxRequests;
    private final int maxEntries;
    /** Of all that was posted since the last reset. */
    private long postedCount;
    private long retiredCount;
    private @Nullable Thread poster;
    private final List<FakeMlx5.Posted> chain = new ArrayList<>();
    private FakeMlx5.@Nullable Posted request;
    private boolean hasTarget;
    private boolean hasEntries;
    private int error;

    FakeInitiator(FakeNic nic, FakeContext.Domain domain, FakeContext.Queue queue, int requests,
            int entries) throws ReflectiveOperationException {
        this.nic = nic;
        this.domain = domain;
        this.queue = queue;
        maxRequests = requests;
        maxEntries = entries;
        number = nic.nextNumber();
        structure = nic.arena.allocate(BYTES, Long.BYTES);
        address = structure.address();
        structure.set(JAVA_INT, Layout.Qp.QP_NUM, number);
        extended = structure.asSlice(Layout.Qp.size(System.getProperty("os.arch")));
        Upcalls upcalls = new Upcalls(this, nic.arena, nic::thrown);
        point(Layout.QpEx.WR_START, upcalls.of("start"));
        point(Layout.QpEx.WR_ABORT, upcalls.of("abort"));
        point(Layout.QpEx.WR_RDMA_WRITE, upcalls.of("write"));
        point(Layout.QpEx.WR_RDMA_READ, upcalls.of("read"));
        point(Layout.QpEx.WR_SET_SGE, upcalls.of("setSge"));
        point(Layout.QpEx.WR_SET_SGE_LIST, upcalls.of("setSgeList"));
        structure.set(JAVA_LONG, DIRECT + Layout.Mlx5QpEx.WR_SET_DC_ADDR,
                upcalls.of("setDcAddr").address());
        refusing = upcalls.of("refuse").address();
        completing = upcalls.of("complete").address();
        changed(IbvQP.IBV_QPS_RESET);
    }

    private void point(long offset, MemorySegment function) {
        extended.set(JAVA_LONG, offset, function.address());
    }

    long direct() {
        return address + DIRECT;
    }

    /** As the library does it, wr_complete is another one unless the state takes requests. */
    void changed(int now) {
        state = now;
        extended.set(JAVA_LONG, Layout.QpEx.WR_COMPLETE,
                now == IbvQP.IBV_QPS_RTS ? completing : refusing);
    }

    boolean isReady() {
        return state == IbvQP.IBV_QPS_RTS;
    }

    /** Nothing of it is under way any more, nor will be reported. */
    void forget() {
        pending.clear();
        queue.forget(number);
        postedCount = 0;
        retiredCount = 0;
    }

    /** Reports what failed or was to be reported. */
    void completed(FakeMlx5.Posted done, int status) {
        if (status != Completions.SUCCESS) {
            state = IbvQP.IBV_QPS_ERR;
        }
        if (status != Completions.SUCCESS || (done.flags() & SIGNALED) != 0) {
            queue.add(new FakeContext.Completion(done.id(), status, done.isWrite(), number,
                    () -> retiredCount = Math.max(retiredCount, done.position() + 1)));
        }
    }

    void start(long queuePair) {
        synchronized (nic) {
            require(queuePair == address, "wr_start of another queue pair");
            require(poster == null, "wr_start within a chain");
            poster = Thread.currentThread();
            chain.clear();
            request = null;
            error = 0;
        }
    }

    void write(long queuePair, int rkey, long remote) {
        begin(queuePair, true, rkey, remote);
    }

    void read(long queuePair, int rkey, long remote) {
        begin(queuePair, false, rkey, remote);
    }

    private void begin(long queuePair, boolean isWrite, int rkey, long remote) {
        synchronized (nic) {
            requireChain(queuePair);
            endRequest();
            long position = postedCount + chain.size();
            if (position - retiredCount >= maxRequests) {
                error = ENOMEM;
            }
            request = new FakeMlx5.Posted(number, position, isWrite,
                    extended.get(JAVA_LONG, Layout.QpEx.WR_ID),
                    extended.get(JAVA_INT, Layout.QpEx.WR_FLAGS), rkey, remote, 0, 0,
                    FakeMlx5.NOWHERE, List.of());
        }
    }

    /** A request without a target or without local memory would be nonsense to the adapter. */
    private void endRequest() {
        if (request != null) {
            require(hasTarget && hasEntries, "a request lacks its target or its entries");
            chain.add(request);
        }
        request = null;
        hasTarget = false;
        hasEntries = false;
    }

    void setDcAddr(long directQueuePair, long handle, int target, long key) {
        synchronized (nic) {
            requireChain(directQueuePair - DIRECT);
            require(!hasTarget, "wr_set_dc_addr twice");
            request = begun().to(requireNonNull(nic.handles.get(handle)), target, key);
            hasTarget = true;
        }
    }

    void setSge(long queuePair, int lkey, long local, int bytes) {
        synchronized (nic) {
            requireChain(queuePair);
            entries(List.of(new FakeMlx5.Entry(lkey, local, bytes)));
        }
    }

    void setSgeList(long queuePair, long count, long list) {
        synchronized (nic) {
            requireChain(queuePair);
            if (count > maxEntries) {
                error = ENOMEM;
            }
            List<FakeMlx5.Entry> entries = new ArrayList<>();
            for (long at = list; at < list + count * Layout.Sge.SIZE; at += Layout.Sge.SIZE) {
                entries.add(new FakeMlx5.Entry(Memory.getInt(at + Layout.Sge.LKEY),
                        Memory.getLong(at + Layout.Sge.ADDR),
                        Memory.getInt(at + Layout.Sge.LENGTH)));
            }
            entries(entries);
        }
    }

    private void entries(List<FakeMlx5.Entry> entries) {
        require(!hasEntries, "wr_set_sge twice");
        request = begun().with(entries);
        hasEntries = true;
    }

    private FakeMlx5.Posted begun() {
        return requireNonNull(request, "a setter without a request");
    }

    /** wr_complete in a state that takes requests. */
    int complete(long queuePair) {
        synchronized (nic) {
            requireChain(queuePair);
            poster = null;
            if (error != 0) {
                return error;
            }
            endRequest();
            postedCount += chain.size();
            pending.addAll(chain);
            nic.posted.addAll(chain);
            nic.run(this);
            return 0;
        }
    }

    /** wr_complete in any other state. */
    int refuse(long queuePair) {
        synchronized (nic) {
            requireChain(queuePair);
            poster = null;
            return FakeNic.EINVAL;
        }
    }

    void abort(long queuePair) {
        synchronized (nic) {
            requireChain(queuePair);
            poster = null;
        }
    }

    private void requireChain(long queuePair) {
        require(queuePair == address, "a call for another queue pair");
        require(Thread.currentThread().equals(poster), "a call without wr_start on this thread");
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalStateException(otherwise);
        }
    }
}
