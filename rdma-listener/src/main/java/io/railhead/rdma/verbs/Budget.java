package io.railhead.rdma.verbs;

import io.railhead.rdma.poller.SharedBudget;
import org.jspecify.annotations.Nullable;

/**
 * Bytes of one queue pair that may be outstanding, within its principal's and its port's. A request
 * that does not fit waits; one above the limit is sent alone. Its poller only.
 */
final class Budget {
    private final long limitBytes;
    private final @Nullable SharedBudget within;
    private final int poller;
    private long taken;

    /** The budget of a queue pair whose principal is not known yet. */
    Budget(long limitBytes) {
        this(limitBytes, null, 0);
    }

    /** @param poller the poller's number for the shared budget's waker */
    Budget(long limitBytes, @Nullable SharedBudget within, int poller) {
        if (limitBytes < 1) {
            throw new IllegalArgumentException("limitBytes must be > 0: " + limitBytes);
        }
        this.limitBytes = limitBytes;
        this.within = within;
        this.poller = poller;
    }

    boolean tryTake(long bytes) {
        if (taken != 0 && bytes > limitBytes - taken) {
            return false;
        }
        if (within != null && !within.tryTake(bytes, poller)) {
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
