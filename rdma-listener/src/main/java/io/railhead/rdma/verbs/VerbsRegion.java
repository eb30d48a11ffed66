package io.railhead.rdma.verbs;

import io.railhead.rdma.session.MemoryRegion;

/**
 * A buffer that a peer registered with its own adapter. Nothing of it is here but its key; what is
 * posted against it is counted, so that its peer hears when nothing is any more.
 */
final class VerbsRegion implements MemoryRegion {
    private final TransferQueue transferQueue;
    private final long baseAddress;
    private final long length;
    private final int remoteKey;
    private volatile boolean retired;
    /** Slices posted and not ended. Poller only. */
    private int posted;
    private Runnable whenUntouched = () -> {};

    VerbsRegion(TransferQueue transferQueue, long baseAddress, long length, int remoteKey) {
        this.transferQueue = transferQueue;
        this.baseAddress = baseAddress;
        this.length = length;
        this.remoteKey = remoteKey;
    }

    TransferQueue transferQueue() {
        return transferQueue;
    }

    @Override
    public long baseAddress() {
        return baseAddress;
    }

    @Override
    public long length() {
        return length;
    }

    int remoteKey() {
        return remoteKey;
    }

    /** What is not posted yet will not be. */
    @Override
    public void retire() {
        retired = true;
    }

    boolean isRetired() {
        return retired;
    }

    void posted() {
        posted++;
    }

    void ended() {
        posted--;
        if (posted == 0) {
            whenUntouched.run();
        }
    }

    /** Runs once nothing is posted against it. Retired; poller only. */
    void whenUntouched(Runnable task) {
        if (posted == 0) {
            task.run();
        } else {
            whenUntouched = task;
        }
    }
}
