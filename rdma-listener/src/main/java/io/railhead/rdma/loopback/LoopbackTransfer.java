package io.railhead.rdma.loopback;

import io.railhead.cache.memory.PageSlice;
import io.railhead.rdma.FabricCounts;
import io.railhead.rdma.OwnedSlice;
import io.railhead.rdma.OwnedSlice.Direction;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.TransferException.Reason;
import io.railhead.rdma.session.PeerSession;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One request's copies. Small ones are done within the call, large ones by the workers.
 *
 * <p> Its lock guards the set of tasks and the fence; no copy, no completion and no other lock is
 * taken under it.
 */
final class LoopbackTransfer implements Transfer {
    private final CopyEngine engine;
    private final RemoteBuffer buffer;
    private final SharedRegion region;
    private final Set<CopyTask> tasks = new HashSet<>();
    private volatile boolean fenced;
    private @Nullable CompletableFuture<Void> fence;

    LoopbackTransfer(CopyEngine engine, RemoteBuffer buffer, SharedRegion region) {
        this.engine = engine;
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

    @Override
    public CompletionStage<Void> fence() {
        CompletableFuture<Void> ends;
        List<CopyTask> left;
        synchronized (this) {
            if (fence == null) {
                fence = new CompletableFuture<>();
            }
            ends = fence;
            fenced = true;
            left = List.copyOf(tasks);
        }
        if (left.isEmpty()) {
            ends.complete(null);
        } else {
            engine.workers().execute(() -> left.forEach(task -> task.breakOff(stopped())));
        }
        return ends;
    }

    private OwnedSlice start(Direction direction, PageSlice ownedSlice, long offset) {
        OwnedSlice slice = new OwnedSlice(direction, ownedSlice);
        TransferException refusal = findRefusal(slice.bytes(), offset);
        if (refusal != null) {
            slice.end(refusal, counts());
            return slice;
        }
        CopyTask task;
        try {
            task = new CopyTask(this, slice, region,
                    new SliceCopy(direction, ownedSlice.segments(),
                            region.memory(), regionOffset(offset), slice.bytes()));
        } catch (RuntimeException | Error e) {
            region.release();
            ownedSlice.close();
            throw e;
        }
        synchronized (this) {
            tasks.add(task);
        }
        run(task, slice.bytes());
        return slice;
    }

    private void run(CopyTask task, int bytes) {
        if (engine.isInline(region, bytes)) {
            while (task.step()) {
                // Copies all pieces.
            }
        } else if (!engine.workers(region).trySubmit(buffer.session().principal(), task)) {
            task.breakOff(CopyEngine.closing());
        }
    }

    /** Returns why these bytes may not move; null if they may, and then the region is held. */
    private @Nullable TransferException findRefusal(int bytes, long offset) {
        TransferException stop = findReasonToStop();
        if (stop != null) {
            return stop;
        }
        TransferException outOfBounds = buffer.findRefusal(bytes, offset);
        if (outOfBounds != null) {
            return outOfBounds;
        }
        return region.tryRetain() ? null : gone();
    }

    private TransferException gone() {
        return buffer.session().isOpen()
                ? new TransferException(Reason.UNKNOWN_KEY, "the buffer was deregistered")
                : buffer.session().brokenOff();
    }

    private long regionOffset(long offset) {
        return buffer.address() - region.baseAddress() + offset;
    }

    /** Checked before every piece. */
    @Nullable
    TransferException findReasonToStop() {
        if (fenced) {
            return stopped();
        }
        if (engine.isClosing()) {
            return CopyEngine.closing();
        }
        return buffer.session().isOpen()
                ? null
                : buffer.session().brokenOff();
    }

    TransferException failed(Throwable cause) {
        return CopyEngine.failed(buffer.session(), cause);
    }

    private static TransferException stopped() {
        return new TransferException(Reason.FENCED, "the transfer was fenced");
    }

    void moved(long bytes) {
        if (buffer.session() instanceof PeerSession session) {
            session.moved(bytes);
        }
    }

    FabricCounts counts() {
        return engine.counts();
    }

    void ended(CopyTask task) {
        CompletableFuture<Void> ends;
        synchronized (this) {
            tasks.remove(task);
            ends = tasks.isEmpty() ? fence : null;
        }
        if (ends != null) {
            ends.complete(null);
        }
    }
}
