package io.railhead.rdma.verbs;

import org.jspecify.annotations.Nullable;

/**
 * Bytes that may be outstanding at a time, within another budget: a queue pair's within its
 * principal's within its port's. What does not fit waits; what is larger than a limit goes alone.
 * One poller only.
 */
final class Budget {
    private final long limitBytes;
    private final @Nullable Budget within;
    private long taken;

    Budget(long limitBytes, @Nullable Budget within) {
        if (limitBytes < 1) {
            throw new IllegalArgumentException("limitBytes must be > 0: " + limitBytes);
        }
        this.limitBytes = limitBytes;
        this.within = within;
    }

    boolean tryTake(long bytes) {
        if (taken != 0 && bytes > limitBytes - taken) {
            return false;
        }
        if (within != null && !within.tryTake(bytes)) {
            return false;
        }
        taken += bytes;
        return true;
    }

    void giveBack(long bytes) {
        taken -= bytes;
        if (taken < 0) {
            throw new IllegalStateException("more bytes given back than taken");
        }
        if (within != null) {
            within.giveBack(bytes);
        }
    }

    long taken() {
        return taken;
    }
}
