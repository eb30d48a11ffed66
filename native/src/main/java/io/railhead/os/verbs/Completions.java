package io.railhead.os.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import com.ibm.disni.verbs.IbvCQ;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Completions that one poll took from a queue: an array of struct ibv_wc, which the next poll
 * overwrites. Nothing is allocated after construction. One thread at a time.
 */
public final class Completions implements AutoCloseable {
    /** The status of a success; any other breaks its queue pair. */
    public static final int SUCCESS = 0;
    /** The status of work that was posted to, or was still in, a queue pair in ERR. */
    public static final int FLUSHED = 5;
    /**
     * The peer's device refused the request, for example because the queue pair grants no such
     * right.
     */
    public static final int REMOTE_INVALID_REQUEST = 9;
    /** The peer's device refused the key or the range. */
    public static final int REMOTE_ACCESS_ERROR = 10;
    /** The peer's device could not access its memory. */
    public static final int REMOTE_OPERATION_ERROR = 11;
    /** The peer did not answer. */
    public static final int RETRY_EXCEEDED = 12;
    /** The peer had no receive posted. */
    public static final int RNR_RETRY_EXCEEDED = 13;
    /** The opcode of a completed receive of a SEND. */
    public static final int RECEIVE = 128;
    /** The opcode of a completed receive of a WRITE with immediate. */
    public static final int RECEIVE_WITH_IMMEDIATE = 129;

    private static final int WITH_IMMEDIATE = 1 << 1;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;
    private final int capacity;
    private int size;

    Completions(int capacity) {
        this.capacity = WorkRequests.requirePositive("capacity", capacity);
        memory = arena.allocate(capacity * Layout.Wc.SIZE, Long.BYTES);
    }

    /**
     * Takes completions from a queue, up to the capacity. One thread at a time polls a queue.
     *
     * @throws IllegalStateException if the queue failed: after an overrun it is lost
     */
    public int poll(IbvCQ queue) {
        int polled = Foreign.completionQueue(queue).poll(capacity, memory.address());
        if (polled < 0) {
            size = 0;
            throw new IllegalStateException("poll_cq failed: " + polled);
        }
        size = polled;
        return polled;
    }

    public int size() {
        return size;
    }

    /** Returns whether the peer's device answered that its registration or key was wrong. */
    public static boolean isRemoteAccess(int status) {
        return switch (status) {
            case REMOTE_INVALID_REQUEST, REMOTE_ACCESS_ERROR, REMOTE_OPERATION_ERROR -> true;
            default -> false;
        };
    }

    public long workRequestId(int index) {
        return memory.get(JAVA_LONG, at(index) + Layout.Wc.WR_ID);
    }

    /**
     * Returns the enum ibv_wc_status; unless it is 0, only id, status, vendor error and number are
     * valid.
     */
    public int status(int index) {
        return memory.get(JAVA_INT, at(index) + Layout.Wc.STATUS);
    }

    /** Returns the enum ibv_wc_opcode. */
    public int opcode(int index) {
        return memory.get(JAVA_INT, at(index) + Layout.Wc.OPCODE);
    }

    public int vendorError(int index) {
        return memory.get(JAVA_INT, at(index) + Layout.Wc.VENDOR_ERR);
    }

    /** Returns the bytes received or read. */
    public int bytes(int index) {
        return memory.get(JAVA_INT, at(index) + Layout.Wc.BYTE_LEN);
    }

    public boolean hasImmediate(int index) {
        return (memory.get(JAVA_INT, at(index) + Layout.Wc.WC_FLAGS) & WITH_IMMEDIATE) != 0;
    }

    public int immediate(int index) {
        return memory.get(WorkRequests.BIG_ENDIAN_INT, at(index) + Layout.Wc.IMM_DATA);
    }

    public int queuePairNumber(int index) {
        return memory.get(JAVA_INT, at(index) + Layout.Wc.QP_NUM);
    }

    @Override
    public void close() {
        arena.close();
    }

    private long at(int index) {
        if (index >= size) {
            throw new IndexOutOfBoundsException(index);
        }
        return index * Layout.Wc.SIZE;
    }
}
