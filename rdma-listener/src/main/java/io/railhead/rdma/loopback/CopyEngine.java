package io.railhead.rdma.loopback;

import io.railhead.rdma.FabricCounts;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.TransferException.Reason;
import io.railhead.rdma.session.PeerSession;
import io.railhead.rdma.session.Region;

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

    /** Where the window lies; throws where it is not, or no longer, what its session registered. */
    SharedRegion requireRegion(RemoteBuffer buffer) {
        if (closing) {
            throw closing();
        }
        if (!(buffer.session() instanceof PeerSession session) || !session.isOpen()) {
            throw new TransferException(Reason.UNKNOWN_SESSION,
                    "no session " + buffer.session().number());
        }
        Region region = session.findRegion(buffer.key());
        if (!(region instanceof SharedRegion shared)) {
            throw new TransferException(Reason.UNKNOWN_KEY,
                    "session " + session.number() + " has no such buffer");
        }
        if (!shared.contains(buffer.address(), buffer.length())) {
            throw new TransferException(Reason.OUT_OF_BOUNDS, "window of " + buffer.length()
                    + " bytes does not lie within the buffer of " + shared.length());
        }
        return shared;
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
