package io.railhead.os.verbs;

import java.io.IOException;

/** A target in RTR, with the shared receive queue that every target must have. */
final class ForeignTarget implements DcTarget {
    private final LibMlx5 library;
    private final DcQueuePair queuePair;
    private final long receives;
    private final int number;

    ForeignTarget(LibMlx5 library, DcQueuePair queuePair, long receives) {
        this.library = library;
        this.queuePair = queuePair;
        this.receives = receives;
        this.number = queuePair.number();
    }

    @Override
    public int number() {
        return number;
    }

    @Override
    public void close() throws IOException {
        queuePair.destroy();
        destroyReceives(library, receives);
    }

    private static void destroyReceives(LibMlx5 library, long receives) throws IOException {
        NativeLibrary.check("ibv_destroy_srq",
                state -> (int) library.destroySrq.invokeExact(state, receives));
    }

    /** Destroys a receive queue; a failure is suppressed in the cause. */
    static void tryDestroyReceives(LibMlx5 library, long receives, Throwable cause) {
        try {
            destroyReceives(library, receives);
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
    }
}
