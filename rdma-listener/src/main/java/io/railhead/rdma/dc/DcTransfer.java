package io.railhead.rdma.dc;

import static java.util.Objects.requireNonNull;

import io.railhead.cache.memory.PageSlice;
import io.railhead.rdma.FabricCounts;
import io.railhead.rdma.OwnedSlice;
import io.railhead.rdma.OwnedSlice.Direction;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.TransferException.Reason;
import io.railhead.rdma.poller.SharedBudget;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One request's slices on their way to or from a target. It has an initiator to itself while it has
 * slices, and requests another if more come later.
 *
 * <pre>
 *   slices ──▶ waiting ──way to the target, initiator, room──▶ posted ──▶ ended
 *                 └───────── stopped: dropped                    └── initiator reset: ended
 * </pre>
 *
 * A transfer that a failure or a fence stopped stays stopped. Poller only, unless said otherwise.
 */
final class DcTransfer implements Transfer, AddressHandles.Asker {
    private final DcPollerGroup rail;
    private final DcClient peer;
    private final RemoteBuffer buffer;
    private final Deque<DcWork> waiting = new ArrayDeque<>();
    private final List<CompletableFuture<Void>> fences = new ArrayList<>();
    /** The reason why nothing more is posted. Written by the poller and by a fence. */
    private volatile @Nullable TransferException stopped;
    private boolean isAsking;
    private boolean isQueued;
    private AddressHandles.@Nullable Way way;
    private WorkRequestBuilder.@Nullable Route route;
    private @Nullable SharedBudget budget;
    private int posted;

    DcTransfer(DcPollerGroup rail, DcClient peer, RemoteBuffer buffer) {
        this.rail = rail;
        this.peer = peer;
        this.buffer = buffer;
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
            rail.poller().execute(new DcWork(this, slice, buffer.address() + offset));
        } else {
            slice.end(refusal, counts());
        }
        return slice;
    }

    private @Nullable TransferException findRefusal(int bytes, long offset) {
        TransferException stop = findReasonToStop();
        return stop == null ? buffer.findRefusal(bytes, offset) : stop;
    }

    /** Checked on the caller's thread, and again before anything is posted. */
    private @Nullable TransferException findReasonToStop() {
        TransferException stop = stopped;
        return stop == null && rail.isClosing()
                ? new TransferException(Reason.UNAVAILABLE, "the fabric is closing")
                : stop;
    }

    @Override
    public CompletionStage<Void> fence() {
        TransferException reason = new TransferException(Reason.FENCED, "the transfer was fenced");
        stopped = reason;
        CompletableFuture<Void> ends = new CompletableFuture<>();
        rail.poller().execute(() -> fence(reason, ends));
        return ends;
    }

    private void fence(TransferException reason, CompletableFuture<Void> ends) {
        fences.add(ends);
        WorkRequestBuilder.Route now = route;
        if (now != null && posted > 0) {
            rail.initiators().fail(now.initiator(), reason);
        }
        stop(reason);
    }

    /** Stops posting. Posted slices stay with the adapter until their completion. */
    void stop(TransferException reason) {
        if (stopped == null) {
            stopped = reason;
        }
        while (!waiting.isEmpty()) {
            waiting.remove().dropped(reason);
        }
        if (isAsking && rail.pool(peer).cancel(this)) {
            isAsking = false;
            releaseWay();
        }
        settle();
    }

    /** Returns why posted bytes did not arrive. */
    TransferException broken() {
        TransferException stop = findReasonToStop();
        return stop != null ? stop : new TransferException(Reason.PEER_GONE, "the request broke");
    }

    void add(DcWork work) {
        TransferException stop = findReasonToStop();
        if (stop != null) {
            work.dropped(stop);
            return;
        }
        waiting.add(work);
        if (route != null) {
            rail.ready(this);
        } else if (!isAsking) {
            isAsking = true;
            rail.handles().ask(new AddressHandles.Place(peer.gid(), peer.lid()), this);
        }
    }

    @Override
    public void found(AddressHandles.Way found) {
        way = found;
        // The address handle may have taken long, and the transfer may have been stopped meanwhile.
        if (findNext() == null) {
            isAsking = false;
            releaseWay();
        } else {
            rail.pool(peer).ask(this);
        }
    }

    @Override
    public void notFound(String reason) {
        isAsking = false;
        stop(new TransferException(Reason.PEER_GONE,
                "there is no way to " + peer.id() + ": " + reason));
    }

    void notGranted(TransferException reason) {
        isAsking = false;
        releaseWay();
        stop(reason);
    }

    /** Takes the initiator, until no slice waits or is posted. */
    void granted(Initiator initiator) {
        isAsking = false;
        initiator.user(this);
        budget = rail.budgets().enter(peer.principal());
        route = new WorkRequestBuilder.Route(initiator, requireNonNull(way).handle(), peer.number(),
                buffer.key());
        rail.ready(this);
    }

    /** Handles the end of a posted slice. */
    void ended() {
        posted--;
        settle();
    }

    private void settle() {
        if (posted > 0) {
            return;
        }
        if (waiting.isEmpty() && route != null) {
            leave(route.initiator());
        }
        if (stopped != null) {
            fences.forEach(fence -> fence.complete(null));
            fences.clear();
        }
    }

    private void leave(Initiator initiator) {
        route = null;
        rail.budgets().exit(peer.principal());
        releaseWay();
        initiator.user(null);
        if (!initiator.isBroken()) {
            initiator.pool().add(initiator);
        }
    }

    private void releaseWay() {
        rail.handles().release(requireNonNull(way));
        way = null;
    }

    /**
     * Drops the address handle, since its peer was unreachable: the next request creates another.
     */
    void forgetWay() {
        if (way != null) {
            rail.handles().forget(way);
        }
    }

    boolean isQueued() {
        return isQueued;
    }

    void queued(boolean now) {
        isQueued = now;
    }

    /** Returns the route of the next slices; null while there is no usable initiator. */
    WorkRequestBuilder.@Nullable Route findRoute() {
        WorkRequestBuilder.Route now = route;
        return now == null || now.initiator().isBroken() ? null : now;
    }

    /** Returns the next slice to post; null if there is none, or the transfer was stopped. */
    @Nullable
    DcWork findNext() {
        TransferException stop = findReasonToStop();
        if (stop != null) {
            stop(stop);
        }
        return waiting.peek();
    }

    /** Removes the slice of {@link #findNext}, which is being posted. */
    void taken() {
        waiting.remove();
        posted++;
    }

    SharedBudget budget() {
        return requireNonNull(budget);
    }

    FabricCounts counts() {
        return rail.counts();
    }

    String principal() {
        return peer.principal();
    }
}
