package io.railhead.rdma.loopback;

import io.railhead.rdma.OwnedSlice;
import io.railhead.rdma.TransferException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One slice on its way to or from a peer. It owns the slice and one hold of the region.
 *
 * <pre>
 *   QUEUED ◀──────▶ RUNNING ──▶ DONE
 *      └──break off──────────────▲
 * </pre>
 *
 * Only the thread that moves it to DONE gives back the hold, closes the slice (or hands a filled
 * one over) and completes the stage. Only a RUNNING task touches peer memory, so a DONE one never
 * does again.
 */
final class CopyTask implements CopyWorkers.Work {
    /** Small enough that a fence, or another principal, never waits long. */
    static final long PIECE_BYTES = 1 << 20;

    private enum State {
        QUEUED,
        RUNNING,
        DONE
    }

    private final LoopbackTransfer transfer;
    private final OwnedSlice slice;
    private final SharedRegion heldRegion;
    private final SliceCopy copy;
    private final AtomicReference<State> state = new AtomicReference<>(State.QUEUED);

    CopyTask(LoopbackTransfer transfer, OwnedSlice slice, SharedRegion heldRegion,
            SliceCopy copy) {
        this.transfer = transfer;
        this.slice = slice;
        this.heldRegion = heldRegion;
        this.copy = copy;
    }

    @Override
    public boolean step() {
        if (!state.compareAndSet(State.QUEUED, State.RUNNING)) {
            return false;
        }
        TransferException failure = transfer.findReasonToStop();
        if (failure == null) {
            failure = tryPiece();
        }
        if (failure != null || copy.isDone()) {
            state.set(State.DONE);
            finish(failure);
            return false;
        }
        state.set(State.QUEUED);
        // A fence that came meanwhile found the task RUNNING and left its end to this thread.
        TransferException stopped = transfer.findReasonToStop();
        return stopped == null || !breakOff(stopped);
    }

    /** Ends the task unless it runs or has ended; returns whether this call did. */
    boolean breakOff(TransferException failure) {
        if (!state.compareAndSet(State.QUEUED, State.DONE)) {
            return false;
        }
        finish(failure);
        return true;
    }

    private @Nullable TransferException tryPiece() {
        long began = System.nanoTime();
        try {
            long bytes = copy.piece(PIECE_BYTES);
            count(bytes, System.nanoTime() - began);
            return null;
        } catch (RuntimeException | Error e) {
            return transfer.failed(e);
        }
    }

    private void count(long bytes, long nanos) {
        transfer.counts().moved(slice.direction(), bytes);
        transfer.moved(bytes);
        transfer.counts().copied(nanos);
    }

    private void finish(@Nullable TransferException failure) {
        try {
            heldRegion.release();
            slice.end(failure, transfer.counts());
        } finally {
            transfer.ended(this);
        }
    }
}
