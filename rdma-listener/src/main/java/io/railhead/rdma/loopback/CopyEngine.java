package io.railhead.rdma.loopback;

import io.railhead.rdma.FabricCounts;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.TransferException.Reason;

/** What all transfers of a fabric share: its workers, its counts, and whether it is closing. */
final class CopyEngine implements AutoCloseable {
    private final CopyWorkers workers;
    private final FabricCounts counts;
    private final int inlineBytes;
    private volatile boolean closing;

    CopyEngine(LoopbackConfig config, FabricCounts counts) {
        this.workers = new CopyWorkers(config.copyWorkers(), config.workersPerPrincipal());
        this.counts = counts;
        this.inlineBytes = config.inlineBytes();
    }

    CopyWorkers workers() {
        return workers;
    }

    FabricCounts counts() {
        return counts;
    }

    int inlineBytes() {
        return inlineBytes;
    }

    boolean isClosing() {
        return closing;
    }

    static TransferException closing() {
        return new TransferException(Reason.UNAVAILABLE, "the fabric is closing");
    }

    /** From now on no piece begins; what was queued fails on the workers. */
    void stop() {
        closing = true;
    }

    @Override
    public void close() {
        stop();
        workers.close();
    }
}
