package io.railhead.rdma.loopback;

import io.railhead.cache.memory.PageSlice;
import io.railhead.protocol.channel.Answer;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.TransferException;
import org.jspecify.annotations.Nullable;

/**
 * A large hit on its way into its peer's window: a worker copies the slices piece by piece, then
 * answers. It owns the slices and one hold of the region. One thread at a time.
 */
final class LoopbackDelivery implements CopyWorkers.Work {
    private final LoopbackChannel channel;
    private final SharedRegion heldRegion;
    private final RemoteBuffer window;
    private final @Nullable PageSlice[] ownedSlices;
    private final Answer answer;
    private int next;
    private long done;

    LoopbackDelivery(LoopbackChannel channel, SharedRegion heldRegion, RemoteBuffer window,
            @Nullable PageSlice[] ownedSlices, Answer answer) {
        this.channel = channel;
        this.heldRegion = heldRegion;
        this.window = window;
        this.ownedSlices = ownedSlices;
        this.answer = answer;
    }

    @Override
    public boolean step() {
        int from = next;
        long piece = 0;
        while (next < ownedSlices.length && piece < CopyTask.PIECE_BYTES) {
            PageSlice slice = ownedSlices[next];
            piece += slice == null ? 0 : slice.length();
            next++;
        }
        TransferException failure = channel.copy(heldRegion, window, done, ownedSlices, from, next);
        done += piece;
        if (failure == null && next < ownedSlices.length) {
            return true;
        }
        end(failure);
        return false;
    }

    /** Ends a delivery that has not begun, or is between two steps. */
    void end(@Nullable TransferException failure) {
        channel.delivered(heldRegion, ownedSlices, ownedSlices.length, answer, failure);
    }
}
