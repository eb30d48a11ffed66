package io.railhead.os.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import com.ibm.disni.verbs.IbvQP;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A chain of receive work requests in native memory, used as {@link PreparedSends} is and under the
 * same rules.
 *
 * <pre>
 *   request 0 .. n-1   struct ibv_recv_wr (32 bytes each), next -> the following one
 *   entry lists        n × entriesPerRequest × struct ibv_sge (16 bytes)
 *   bad_wr             pointer
 * </pre>
 */
public final class PreparedReceives implements AutoCloseable {
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

    PreparedReceives(int requests, int entriesPerRequest) {
        capacity = WorkRequests.requirePositive("requests", requests);
        this.entriesPerRequest = WorkRequests.requirePositive("entriesPerRequest",
                entriesPerRequest);
        entriesOffset = capacity * Layout.RecvWr.SIZE;
        badOffset = entriesOffset + (long) capacity * entriesPerRequest * Layout.Sge.SIZE;
        memory = arena.allocate(badOffset + Long.BYTES, Long.BYTES);
        for (int i = 0; i < capacity; i++) {
            memory.set(JAVA_LONG, i * Layout.RecvWr.SIZE + Layout.RecvWr.SG_LIST,
                    memory.address() + entriesOffset(i));
        }
    }

    public int capacity() {
        return capacity;
    }

    /** Requests added since the last {@link #clear}. */
    public int size() {
        return size;
    }

    public PreparedReceives clear() {
        size = 0;
        return this;
    }

    /** Appends a request without entries, for messages without a body. */
    public PreparedReceives add(long workRequestId) {
        if (size == capacity) {
            throw new IllegalStateException("the chain is full: " + capacity);
        }
        long next = size * Layout.RecvWr.SIZE;
        if (size > 0) {
            memory.set(JAVA_LONG, request + Layout.RecvWr.NEXT, memory.address() + next);
        }
        request = next;
        size++;
        entries = 0;
        memory.set(JAVA_LONG, request + Layout.RecvWr.WR_ID, workRequestId);
        memory.set(JAVA_LONG, request + Layout.RecvWr.NEXT, 0L);
        memory.set(JAVA_INT, request + Layout.RecvWr.NUM_SGE, 0);
        return this;
    }

    /** Appends local memory that a message is written to. */
    public PreparedReceives entry(long address, int bytes, int lkey) {
        if (size == 0 || entries == entriesPerRequest) {
            throw new IllegalStateException("no room for an entry: " + entriesPerRequest);
        }
        WorkRequests.entry(memory, entriesOffset(size - 1) + entries * Layout.Sge.SIZE, address,
                bytes, lkey);
        entries++;
        memory.set(JAVA_INT, request + Layout.RecvWr.NUM_SGE, entries);
        return this;
    }

    /** Posts the chain; returns how many requests were accepted, see {@link #refusal}. */
    public int post(IbvQP queuePair) {
        if (size == 0) {
            return 0;
        }
        refusal = Foreign.queuePair(queuePair)
                .postReceive(memory.address(), memory.address() + badOffset);
        return refusal == 0
                ? size
                : (int) ((memory.get(JAVA_LONG, badOffset) - memory.address())
                        / Layout.RecvWr.SIZE);
    }

    /** The errno with which the last {@link #post} ended, 0 when it took everything. */
    public int refusal() {
        return refusal;
    }

    @Override
    public void close() {
        arena.close();
    }

    private long entriesOffset(int index) {
        return entriesOffset + (long) index * entriesPerRequest * Layout.Sge.SIZE;
    }
}
