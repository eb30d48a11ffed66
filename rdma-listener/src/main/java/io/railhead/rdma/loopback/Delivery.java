package io.railhead.rdma.loopback;

import io.railhead.cache.memory.PageSlice;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.TransferException.Reason;
import io.railhead.rdma.channel.Answer;
import io.railhead.rdma.loopback.SliceCopy.Direction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A hit on its way into its peer's window: slices, one after another, and then the answer. It owns
 * the slices and one hold of the region, and gives up both before it answers. One thread at a time.
 */
final class Delivery implements CopyWorkers.Work {
    private static final Logger log = LoggerFactory.getLogger(Delivery.class);

    private final CopyEngine engine;
    private final LoopbackChannel channel;
    private final SharedRegion heldRegion;
    private final RemoteBuffer window;
    private final @Nullable PageSlice[] ownedSlices;
    private final int count;
    private final Answer answer;
    private int next;
    private long done;

    Delivery(CopyEngine engine, LoopbackChannel channel, SharedRegion heldRegion,
            RemoteBuffer window, @Nullable PageSlice[] ownedSlices, int count, Answer answer) {
        this.engine = engine;
        this.channel = channel;
        this.heldRegion = heldRegion;
        this.window = window;
        this.ownedSlices = ownedSlices;
        this.count = count;
        this.answer = answer;
    }

    @Override
    public boolean step() {
        TransferException failure = findReasonToStop();
        if (failure == null) {
            failure = tryPiece();
        }
        if (failure == null && next < count) {
            return true;
        }
        finish(failure);
        return false;
    }

    /** Ends what has not begun, or stands between two steps. */
    void breakOff(TransferException failure) {
        finish(failure);
    }

    private @Nullable TransferException findReasonToStop() {
        if (engine.isClosing()) {
            return CopyEngine.closing();
        }
        return window.session().isOpen()
                ? null
                : new TransferException(Reason.PEER_GONE, "the session has ended");
    }

    private @Nullable TransferException tryPiece() {
        long began = System.nanoTime();
        long before = done;
        try {
            while (next < count && done - before < CopyTask.PIECE_BYTES) {
                copy(ownedSlices[next]);
                next++;
            }
            engine.counts().copied(Direction.TO_PEER, done - before, System.nanoTime() - began);
            return null;
        } catch (InternalError e) {
            // The kernel had no page behind the peer's memory: a bus error, as the JVM reports it.
            return failed(Reason.PEER_GONE, "the peer's memory could not be touched", e);
        } catch (RuntimeException e) {
            log.error("loopback delivery", e);
            return failed(Reason.UNAVAILABLE, "the copy failed", e);
        }
    }

    private void copy(@Nullable PageSlice slice) {
        if (slice == null) {
            throw new IllegalArgumentException("slice " + next + " of " + count + " is missing");
        }
        slice.copyTo(heldRegion.memory(), window.address() - heldRegion.baseAddress() + done);
        done += slice.length();
    }

    private static TransferException failed(Reason reason, String message, Throwable cause) {
        TransferException failure = new TransferException(reason, message);
        failure.initCause(cause);
        return failure;
    }

    private void finish(@Nullable TransferException failure) {
        heldRegion.release();
        closeAll(ownedSlices, count);
        if (failure == null) {
            channel.answer(answer);
        } else {
            engine.counts().refused(failure.reason());
            channel.undelivered(answer.id(), failure);
        }
    }

    static void closeAll(@Nullable PageSlice[] ownedSlices, int count) {
        for (int i = 0; i < count; i++) {
            PageSlice slice = ownedSlices[i];
            if (slice != null) {
                slice.close();
            }
        }
    }
}
