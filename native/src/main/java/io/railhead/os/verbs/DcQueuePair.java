package io.railhead.os.verbs;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** struct ibv_qp of an initiator or a target, until it is destroyed. One thread at a time. */
final class DcQueuePair {
    final long address;
    private final LibMlx5 library;
    private volatile boolean isOpen = true;

    DcQueuePair(LibMlx5 library, long address) {
        this.library = library;
        this.address = address;
    }

    /** Returns the number; a target has one only from RTR on. */
    int number() {
        requireOpen();
        return Memory.getInt(address + Layout.Qp.QP_NUM);
    }

    void requireOpen() {
        Foreign.requireOpen(isOpen);
    }

    /**
     * @param state the state's name, for the failure's message
     * @param mask the attributes that are set
     */
    void modify(String state, MemorySegment attr, int mask) throws IOException {
        requireOpen();
        NativeLibrary.check("ibv_modify_qp to " + state,
                errno -> (int) library.modifyQp.invokeExact(errno, address, attr, mask));
    }

    /**
     * Destroys the queue pair, once. After a failure the library and the adapter keep all that it
     * uses.
     */
    void destroy() throws IOException {
        requireOpen();
        isOpen = false;
        NativeLibrary.check("ibv_destroy_qp",
                state -> (int) library.destroyQp.invokeExact(state, address));
    }

    /** Destroys the queue pair; a failure is suppressed in the cause. */
    void tryDestroy(Throwable cause) {
        try {
            destroy();
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
    }
}
