package io.railhead.rdma.verbs;

import io.railhead.rdma.session.MemoryRegion;

/**
 * A buffer that a peer registered with its own adapter. The gateway has only its key. Posted work
 * against it is counted, so that the peer learns when there is none any more.
 */
final class VerbsRegion implements MemoryRegion {
    private final TransferQueue transferQueue;
    private final long baseAddress;
    private final long length;
    private final int remoteKey;
    private volatile boolean retired;
    /** The number of slices posted and not ended. Poller only. */
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

    /** Retires the buffer: slices that are not posted yet will not be. */
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

    /** Runs a task once nothing is posted against the retired buffer; poller only. */
    void whenUntouched(Runnable task) {
        if (posted == 0) {
            task.run();
        } else {
            whenUntouched = task;
        }
    }
}
