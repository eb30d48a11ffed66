package io.railhead.rdma.loopback;

import io.railhead.protocol.message.EndReason;
import io.railhead.rdma.FabricCounts;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.TransferException.Reason;
import io.railhead.rdma.session.ClientSession;
import io.railhead.rdma.session.MemoryRegion;
import io.railhead.rdma.session.PeerSession;
import java.io.EOFException;
import java.io.UncheckedIOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The shared part of all transfers of a fabric: the workers, the counters, and the closing state.
 */
final class CopyEngine implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(CopyEngine.class);
    /**
     * The number of these workers, so that principals whose memory never answers leave some for
     * others.
     */
    private static final int BLOCKING_FACTOR = 4;

    private final CopyWorkers workers;
    /** The only threads that touch memory which may block: other transfers never wait for it. */
    private final CopyWorkers blockingWorkers;
    private final FabricCounts counts;
    private final int inlineBytes;
    private volatile boolean closing;

    CopyEngine(LoopbackConfig config, FabricCounts counts) {
        this.workers = new CopyWorkers("loopback-copy-", config.copyWorkers(),
                config.workersPerPrincipal());
        this.blockingWorkers = new CopyWorkers("loopback-blocking-",
                BLOCKING_FACTOR * config.copyWorkers(),
                config.workersPerPrincipal());
        this.counts = counts;
        this.inlineBytes = config.inlineBytes();
    }

    CopyWorkers workers() {
        return workers;
    }

    FabricCounts counts() {
        return counts;
    }

    CopyWorkers blockingWorkers() {
        return blockingWorkers;
    }

    /** Returns the workers that copy to and from the region, apart from inline copies. */
    CopyWorkers workers(SharedRegion region) {
        return region.memory().mayBlock() ? blockingWorkers : workers;
    }

    /** Returns whether the caller itself copies so many bytes. */
    boolean isInline(SharedRegion region, long bytes) {
        return bytes <= inlineBytes && !region.memory().mayBlock();
    }

    boolean isClosing() {
        return closing;
    }

    static TransferException closing() {
        return new TransferException(Reason.UNAVAILABLE, "the fabric is closing");
    }

    /**
     * Converts a failed copy to or from the session's memory. It ends the session if the process is
     * alive but its memory is not there as registered.
     */
    static TransferException failed(ClientSession clientSession, Throwable cause) {
        Reason reason = reason(cause);
        if (reason == Reason.UNAVAILABLE) {
            log.error("loopback copy", cause);
        } else if (reason == Reason.REMOTE_ACCESS && clientSession instanceof PeerSession peer) {
            log.info("loopback session {}: {}", clientSession.label(), cause.toString());
            peer.end(EndReason.ACCESS);
        }
        TransferException failure = new TransferException(reason, reason == Reason.UNAVAILABLE
                ? "the copy failed"
                : "the peer's memory could not be touched");
        failure.initCause(cause);
        return failure;
    }

    private static Reason reason(Throwable cause) {
        if (cause instanceof UncheckedIOException && !(cause.getCause() instanceof EOFException)) {
            return Reason.REMOTE_ACCESS;
        }
        return cause instanceof UncheckedIOException || cause instanceof InternalError
                ? Reason.PEER_GONE
                : Reason.UNAVAILABLE;
    }

    /** Returns the region of a window; throws unless the session has it registered now. */
    SharedRegion requireRegion(RemoteBuffer buffer) {
        if (closing) {
            throw closing();
        }
        if (!(buffer.session() instanceof PeerSession session) || !session.isOpen()) {
            throw new TransferException(Reason.UNKNOWN_SESSION,
                    "no session " + buffer.session().number());
        }
        MemoryRegion memoryRegion = session.findRegion(buffer.key());
        if (!(memoryRegion instanceof SharedRegion shared)) {
            throw new TransferException(Reason.UNKNOWN_KEY,
                    "session " + session.number() + " has no such buffer");
        }
        if (!shared.contains(buffer.address(), buffer.length())) {
            throw new TransferException(Reason.OUT_OF_BOUNDS, "window of " + buffer.length()
                    + " bytes does not lie within the buffer of " + shared.length());
        }
        return shared;
    }

    /** Stops copies: no piece begins any more, and queued tasks fail on the workers. */
    void stop() {
        closing = true;
    }

    @Override
    public void close() {
        stop();
        blockingWorkers.close();
        workers.close();
    }
}
