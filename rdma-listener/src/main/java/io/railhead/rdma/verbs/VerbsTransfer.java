package io.railhead.rdma.verbs;

import io.railhead.cache.memory.PageSlice;
import io.railhead.rdma.FabricCounts;
import io.railhead.rdma.OwnedSlice;
import io.railhead.rdma.OwnedSlice.Direction;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.TransferException.Reason;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One request's slices on their way through its session's queue pair. The connection's poller posts
 * them in order, and ends them.
 */
final class VerbsTransfer implements Transfer {
    private final FabricCounts counts;
    private final RemoteBuffer buffer;
    private final VerbsRegion region;
    private volatile boolean fenced;
    /** The number of slices posted and not ended. Poller only. */
    private int posted;
    private @Nullable CompletableFuture<Void> untouched;

    VerbsTransfer(FabricCounts counts, RemoteBuffer buffer, VerbsRegion region) {
        this.counts = counts;
        this.buffer = buffer;
        this.region = region;
    }

    @Override
    public CompletionStage<Void> write(PageSlice ownedSlice, long bufferOffset) {
        return start(Direction.TO_PEER, ownedSlice, bufferOffset).written();
    }

    @Override
    public CompletionStage<PageSlice> read(PageSlice ownedSlice, long bufferOffset) {
        return start(Direction.FROM_PEER, ownedSlice, bufferOffset).outcome();
    }

    private OwnedSlice start(Direction direction, PageSlice ownedSlice, long offset) {
        OwnedSlice slice = new OwnedSlice(direction, ownedSlice);
        TransferException refusal = findRefusal(slice.bytes(), offset);
        if (refusal == null) {
            transferQueue().poller()
                    .execute(new SliceWork(this, slice, buffer.address() + offset));
        } else {
            slice.end(refusal, counts);
        }
        return slice;
    }

    @Override
    public CompletionStage<Void> fence() {
        fenced = true;
        CompletableFuture<Void> ends = new CompletableFuture<>();
        transferQueue().poller().execute(() -> transferQueue().fence(this, ends));
        return ends;
    }

    TransferQueue transferQueue() {
        return region.transferQueue();
    }

    VerbsRegion region() {
        return region;
    }

    FabricCounts counts() {
        return counts;
    }

    private @Nullable TransferException findRefusal(int bytes, long offset) {
        TransferException stop = findReasonToStop();
        return stop == null ? buffer.findRefusal(bytes, offset) : stop;
    }

    /** Checked on the caller's thread, and again before anything is posted. */
    @Nullable
    TransferException findReasonToStop() {
        if (fenced) {
            return new TransferException(Reason.FENCED, "the transfer was fenced");
        }
        if (transferQueue().isClosing()) {
            return new TransferException(Reason.UNAVAILABLE, "the fabric is closing");
        }
        if (!buffer.session().isOpen()) {
            return buffer.session().brokenOff();
        }
        return region.isRetired()
                ? new TransferException(Reason.UNKNOWN_KEY, "the buffer was deregistered")
                : null;
    }

    /** Returns why posted bytes did not arrive. */
    TransferException broken() {
        TransferException stop = findReasonToStop();
        return stop != null
                ? stop
                : new TransferException(Reason.PEER_GONE, "the connection broke");
    }

    void moved(Direction direction, long bytes) {
        counts.moved(direction, bytes);
        transferQueue().session().moved(bytes);
    }

    void posted() {
        posted++;
        region.posted();
    }

    void ended() {
        posted--;
        region.ended();
        CompletableFuture<Void> waiting = untouched;
        if (posted == 0 && waiting != null) {
            waiting.complete(null);
        }
    }

    boolean isUntouched() {
        return posted == 0;
    }

    /** Completes once nothing of the fenced transfer is posted; poller only. */
    CompletableFuture<Void> untouched() {
        CompletableFuture<Void> waiting = untouched;
        if (waiting == null) {
            waiting = new CompletableFuture<>();
            untouched = waiting;
        }
        if (posted == 0) {
            waiting.complete(null);
        }
        return waiting;
    }
}
