package io.railhead.os.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import com.ibm.disni.verbs.IbvQP;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A chain of send work requests in native memory, filled in place and posted with one call:
 * {@code clear}, then for each request {@code add} and what it needs, then {@code post}. Nothing is
 * allocated after construction. One thread at a time uses it; once {@code post} returned, it may be
 * filled again, for any queue pair of any device.
 *
 * <pre>
 *   request 0 .. n-1   struct ibv_send_wr (128 bytes each), next -> the following one
 *   entry lists        n × entriesPerRequest × struct ibv_sge (16 bytes)
 *   bad_wr             pointer
 * </pre>
 */
public final class PreparedSends implements AutoCloseable {
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;
    private final long entriesOffset;
    private final long badOffset;
    private final int capacity;
    private final int entriesPerRequest;
    private int size;
    /** Entries of the last request. */
    private int entries;
    /** Where the last request begins. */
    private long request;
    private int refusal;

    PreparedSends(int requests, int entriesPerRequest) {
        capacity = WorkRequests.requirePositive("requests", requests);
        this.entriesPerRequest = WorkRequests.requirePositive("entriesPerRequest",
                entriesPerRequest);
        entriesOffset = capacity * Layout.SendWr.SIZE;
        badOffset = entriesOffset + (long) capacity * entriesPerRequest * Layout.Sge.SIZE;
        memory = arena.allocate(badOffset + Long.BYTES, Long.BYTES);
        for (int i = 0; i < capacity; i++) {
            memory.set(JAVA_LONG, i * Layout.SendWr.SIZE + Layout.SendWr.SG_LIST,
                    memory.address() + entriesOffset(i));
        }
    }

    public int capacity() {
        return capacity;
    }

    public int entriesPerRequest() {
        return entriesPerRequest;
    }

    /** Requests added since the last {@link #clear}. */
    public int size() {
        return size;
    }

    public PreparedSends clear() {
        size = 0;
        return this;
    }

    /**
     * Appends a request without entries.
     *
     * @param opcode {@code IbvSendWR.IBV_WR_*}
     * @param flags {@code IbvSendWR.IBV_SEND_*}; without SIGNALED a success reports nothing
     */
    public PreparedSends add(long workRequestId, int opcode, int flags) {
        if (size == capacity) {
            throw new IllegalStateException("the chain is full: " + capacity);
        }
        long next = size * Layout.SendWr.SIZE;
        if (size > 0) {
            memory.set(JAVA_LONG, request + Layout.SendWr.NEXT, memory.address() + next);
        }
        request = next;
        size++;
        entries = 0;
        memory.set(JAVA_LONG, request + Layout.SendWr.WR_ID, workRequestId);
        memory.set(JAVA_LONG, request + Layout.SendWr.NEXT, 0L);
        memory.set(JAVA_INT, request + Layout.SendWr.NUM_SGE, 0);
        memory.set(JAVA_INT, request + Layout.SendWr.OPCODE, opcode);
        memory.set(JAVA_INT, request + Layout.SendWr.SEND_FLAGS, flags);
        return this;
    }

    /** Where in the peer's memory the last request writes to or reads from. */
    public PreparedSends remote(long address, int rkey) {
        memory.set(JAVA_LONG, request + Layout.SendWr.REMOTE_ADDR, address);
        memory.set(JAVA_INT, request + Layout.SendWr.RKEY, rkey);
        return this;
    }

    /** The last request's immediate value, in this machine's order; it travels big-endian. */
    public PreparedSends immediate(int value) {
        memory.set(WorkRequests.BIG_ENDIAN_INT, request + Layout.SendWr.IMM_DATA, value);
        return this;
    }

    /** Changes the last request's flags, for example to signal the end of a chain. */
    public PreparedSends flags(int flags) {
        memory.set(JAVA_INT, request + Layout.SendWr.SEND_FLAGS, flags);
        return this;
    }

    /** Appends local memory to the last request; an inlined one is read by {@code post}. */
    public PreparedSends entry(long address, int bytes, int lkey) {
        if (size == 0 || entries == entriesPerRequest) {
            throw new IllegalStateException("no room for an entry: " + entriesPerRequest);
        }
        WorkRequests.entry(memory, entriesOffset(size - 1) + entries * Layout.Sge.SIZE, address,
                bytes, lkey);
        entries++;
        memory.set(JAVA_INT, request + Layout.SendWr.NUM_SGE, entries);
        return this;
    }

    /**
     * Posts the chain. The queue pair's owner alone may call it, and never on an event loop:
     * soft-RoCE moves the bytes inside the call.
     *
     * @return how many requests were accepted, from the first on; fewer than {@link #size} when the
     *         library refused one, see {@link #refusal}
     */
    public int post(IbvQP queuePair) {
        if (size == 0) {
            return 0;
        }
        refusal = Foreign.queuePair(queuePair)
                .postSend(memory.address(), memory.address() + badOffset);
        return refusal == 0
                ? size
                : (int) ((memory.get(JAVA_LONG, badOffset) - memory.address())
                        / Layout.SendWr.SIZE);
    }

    /** The errno with which the last {@link #post} ended, 0 when it took everything. */
    public int refusal() {
        return refusal;
    }

    /** Frees the chain; posted requests are not affected, the library has copied them. */
    @Override
    public void close() {
        arena.close();
    }

    long entriesOffset(int index) {
        return entriesOffset + (long) index * entriesPerRequest * Layout.Sge.SIZE;
    }

    long getLong(long offset) {
        return memory.get(JAVA_LONG, offset);
    }

    void setLong(long offset, long value) {
        memory.set(JAVA_LONG, offset, value);
    }

    int getInt(long offset) {
        return memory.get(JAVA_INT, offset);
    }

    void setInt(long offset, int value) {
        memory.set(JAVA_INT, offset, value);
    }
}
