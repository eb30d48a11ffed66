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
 * One request's slices on their way to or from a target. It has an initiator to itself from its
 * first slice until none of its slices is left, and asks for one again should more come.
 *
 * <pre>
 *   slices ──▶ waiting ──way to the target, initiator, room──▶ posted ──▶ ended
 *                 └───────── stopped: dropped                    └── initiator reset: ended
 * </pre>
 *
 * What is stopped, by a failure or a fence, stays so. Poller only, where nothing else is said.
 */
final class DcTransfer implements Transfer, AddressHandles.Asker {
    private final DcPollerGroup rail;
    private final DcClient peer;
    private final RemoteBuffer buffer;
    private final Deque<DcWork> waiting = new ArrayDeque<>();
    private final List<CompletableFuture<Void>> fences = new ArrayList<>();
    /** Why nothing more is posted. Written by the poller and by who fences. */
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

    // ---- for the request, on its own thread

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

    /** Asked on the caller's thread, and again before anything is posted. */
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

    // ---- on the poller

    private void fence(TransferException reason, CompletableFuture<Void> ends) {
        fences.add(ends);
        WorkRequestBuilder.Route now = route;
        if (now != null && posted > 0) {
            rail.initiators().fail(now.initiator(), reason);
        }
        stop(reason);
    }

    /** Nothing more of it is posted; what is posted is the adapter's until it says otherwise. */
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

    /** Why what was posted did not arrive. */
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
        // The search may have taken long, and nobody could stop what waited for it alone.
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

    /** It has the initiator now, until nothing of it waits or is posted. */
    void granted(Initiator initiator) {
        isAsking = false;
        initiator.user(this);
        budget = rail.budgets().enter(peer.principal());
        route = new WorkRequestBuilder.Route(initiator, requireNonNull(way).handle(), peer.number(),
                buffer.key());
        rail.ready(this);
    }

    /** A slice that was posted has ended. */
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

    /** What was posted says that nobody is there: the next request looks for another way. */
    void forgetWay() {
        if (way != null) {
            rail.handles().forget(way);
        }
    }

    // ---- for who posts

    boolean isQueued() {
        return isQueued;
    }

    void queued(boolean now) {
        isQueued = now;
    }

    /** Where its slices go now; null while it has no initiator that could take one. */
    WorkRequestBuilder.@Nullable Route findRoute() {
        WorkRequestBuilder.Route now = route;
        return now == null || now.initiator().isBroken() ? null : now;
    }

    /**
     * The slice to be posted next; null where there is none, or it is not to be posted any more.
     */
    @Nullable
    DcWork findNext() {
        TransferException stop = findReasonToStop();
        if (stop != null) {
            stop(stop);
        }
        return waiting.peek();
    }

    /** The slice of {@link #findNext} is being posted. */
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
