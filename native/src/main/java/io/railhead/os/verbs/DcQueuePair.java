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

    /** A target has one only from RTR on. */
    int number() {
        requireOpen();
        return Memory.getInt(address + Layout.Qp.QP_NUM);
    }

    void requireOpen() {
        Foreign.requireOpen(isOpen);
    }

    /**
     * @param state its name, for the failure
     * @param mask which of the structure's attributes are meant
     */
    void modify(String state, MemorySegment attr, int mask) throws IOException {
        requireOpen();
        NativeLibrary.check("ibv_modify_qp to " + state,
                errno -> (int) library.modifyQp.invokeExact(errno, address, attr, mask));
    }

    /** Once. Where it fails, the library and the adapter keep all that it uses. */
    void destroy() throws IOException {
        requireOpen();
        isOpen = false;
        NativeLibrary.check("ibv_destroy_qp",
                state -> (int) library.destroyQp.invokeExact(state, address));
    }

    /** What fails is suppressed in the cause. */
    void tryDestroy(Throwable cause) {
        try {
            destroy();
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
    }
}
