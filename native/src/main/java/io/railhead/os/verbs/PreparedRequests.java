package io.railhead.os.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import com.ibm.disni.verbs.IbvQP;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A chain of work requests in native memory, filled in place and posted with one call. Nothing is
 * allocated after construction. One thread at a time; after {@code post} it may be filled again,
 * for any queue pair of any device.
 *
 * <pre>
 *   request 0 .. n-1   struct ibv_send_wr or ibv_recv_wr, next -> the following one
 *   entry lists        n × entriesPerRequest × struct ibv_sge (16 bytes)
 *   bad_wr             pointer
 * </pre>
 *
 * Both structures begin with the same fields, and this class writes only those.
 */
public abstract sealed class PreparedRequests implements AutoCloseable
        permits PreparedSends, PreparedReceives {
    /** The offset of the latest request. */
    protected long request;
    protected final MemorySegment memory;

    private final Arena arena = Arena.ofShared();
    private final long requestBytes;
    private final long entriesOffset;
    private final long badOffset;
    private final int capacity;
    private final int entriesPerRequest;
    private int size;
    /** The number of entries of the latest request. */
    private int entries;
    private int refusal;

    PreparedRequests(long requestBytes, int requests, int entriesPerRequest) {
        this.requestBytes = requestBytes;
        capacity = WorkRequests.requirePositive("requests", requests);
        this.entriesPerRequest = WorkRequests.requirePositive("entriesPerRequest",
                entriesPerRequest);
        entriesOffset = capacity * requestBytes;
        badOffset = entriesOffset + (long) capacity * entriesPerRequest * Layout.Sge.SIZE;
        memory = arena.allocate(badOffset + Long.BYTES, Long.BYTES);
        for (int i = 0; i < capacity; i++) {
            memory.set(JAVA_LONG, i * requestBytes + Layout.RecvWr.SG_LIST,
                    memory.address() + entriesOffset(i));
        }
    }

    public final int capacity() {
        return capacity;
    }

    public final int entriesPerRequest() {
        return entriesPerRequest;
    }

    /** Returns the number of requests since the chain was cleared. */
    public final int size() {
        return size;
    }

    final void empty() {
        size = 0;
    }

    final void append(long workRequestId) {
        if (size == capacity) {
            throw new IllegalStateException("the chain is full: " + capacity);
        }
        long next = size * requestBytes;
        if (size > 0) {
            memory.set(JAVA_LONG, request + Layout.RecvWr.NEXT, memory.address() + next);
        }
        request = next;
        size++;
        entries = 0;
        memory.set(JAVA_LONG, request + Layout.RecvWr.WR_ID, workRequestId);
        memory.set(JAVA_LONG, request + Layout.RecvWr.NEXT, 0L);
        memory.set(JAVA_INT, request + Layout.RecvWr.NUM_SGE, 0);
    }

    final void appendEntry(long address, int bytes, int lkey) {
        if (size == 0 || entries == entriesPerRequest) {
            throw new IllegalStateException("no room for an entry: " + entriesPerRequest);
        }
        WorkRequests.entry(memory, entriesOffset(size - 1) + entries * Layout.Sge.SIZE, address,
                bytes, lkey);
        entries++;
        memory.set(JAVA_INT, request + Layout.RecvWr.NUM_SGE, entries);
    }

    /**
     * Posts the chain. Only the queue pair's owner may call this, and never on an event loop:
     * soft-RoCE moves the bytes inside the call.
     *
     * @return the number of accepted requests, from the first on; fewer than {@link #size} if the
     *         library refused one, see {@link #refusal}
     */
    public final int post(IbvQP queuePair) {
        if (size == 0) {
            return 0;
        }
        refusal = post(Foreign.queuePair(queuePair), memory.address(),
                memory.address() + badOffset);
        return refusal == 0
                ? size
                : (int) ((memory.get(JAVA_LONG, badOffset) - memory.address()) / requestBytes);
    }

    /**
     * Posts the requests; returns the errno, 0 on success. After a failure the first refused
     * request is stored at bad.
     */
    abstract int post(Foreign.QueuePair queuePair, long requests, long bad);

    /** Returns the errno of the last {@link #post}; 0 if it accepted everything. */
    public final int refusal() {
        return refusal;
    }

    /** Frees the chain; posted requests are not affected, since the library has copied them. */
    @Override
    public final void close() {
        arena.close();
    }

    private long entriesOffset(int index) {
        return entriesOffset + (long) index * entriesPerRequest * Layout.Sge.SIZE;
    }
}
