package io.railhead.os.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * A chain of sends, writes and reads: {@code clear}, then for each request {@code add} with its
 * details, then {@code post}.
 */
public final class PreparedSends extends PreparedRequests {

    PreparedSends(int requests, int entriesPerRequest) {
        super(Layout.SendWr.SIZE, requests, entriesPerRequest);
    }

    public PreparedSends clear() {
        empty();
        return this;
    }

    /**
     * Appends a request without entries.
     *
     * @param opcode {@code IbvSendWR.IBV_WR_*}
     * @param flags {@code IbvSendWR.IBV_SEND_*}; without SIGNALED a success reports nothing
     */
    public PreparedSends add(long workRequestId, int opcode, int flags) {
        append(workRequestId);
        memory.set(JAVA_INT, request + Layout.SendWr.OPCODE, opcode);
        memory.set(JAVA_INT, request + Layout.SendWr.SEND_FLAGS, flags);
        return this;
    }

    /** Sets the peer's memory that the latest request writes or reads. */
    public PreparedSends remote(long address, int rkey) {
        memory.set(JAVA_LONG, request + Layout.SendWr.REMOTE_ADDR, address);
        memory.set(JAVA_INT, request + Layout.SendWr.RKEY, rkey);
        return this;
    }

    /** Sets the latest request's immediate value in this machine's order; it is sent big-endian. */
    public PreparedSends immediate(int value) {
        memory.set(WorkRequests.BIG_ENDIAN_INT, request + Layout.SendWr.IMM_DATA, value);
        return this;
    }

    /** Changes the latest request's flags, for example to signal the end of a chain. */
    public PreparedSends flags(int flags) {
        memory.set(JAVA_INT, request + Layout.SendWr.SEND_FLAGS, flags);
        return this;
    }

    /** Appends local memory to the latest request; {@code post} copies inlined memory. */
    public PreparedSends entry(long address, int bytes, int lkey) {
        appendEntry(address, bytes, lkey);
        return this;
    }

    @Override
    int post(Foreign.QueuePair queuePair, long requests, long bad) {
        return queuePair.postSend(requests, bad);
    }
}
