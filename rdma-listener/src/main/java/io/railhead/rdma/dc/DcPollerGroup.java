package io.railhead.rdma.dc;

import io.railhead.os.AdaptiveSpin;
import io.railhead.os.adapter.Adapter;
import io.railhead.os.adapter.CloseStack;
import io.railhead.os.verbs.Completions;
import io.railhead.rdma.FabricCounts;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.TransferException.Reason;
import io.railhead.rdma.poller.CompletionHandler;
import io.railhead.rdma.poller.CompletionQueue;
import io.railhead.rdma.poller.Poller;
import io.railhead.rdma.poller.PortBudgets;
import io.railhead.rdma.poller.SendQueue;
import io.railhead.rdma.session.ClientSessions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The poller of the fabric with its completion queue. It alone touches the initiators, and the
 * requests that use or await one.
 */
final class DcPollerGroup implements CompletionHandler, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(DcPollerGroup.class);
    private static final int POLLER = 0;

    private final Adapter adapter;
    private final ClientSessions clientSessions;
    private final FabricCounts counts;
    private final CompletionQueue queue;
    private final Poller poller;
    private final Initiators initiators;
    private final AddressHandles handles;
    private final PortBudgets budgets;
    private final WorkRequestBuilder workRequestBuilder;
    private final CloseStack closeStack = new CloseStack();
    /**
     * Transfers with waiting slices and an initiator, each once; some may find no room in its send
     * queue.
     */
    private final Deque<DcTransfer> ready = new ArrayDeque<>();
    private volatile boolean closing;

    /**
     * @param control runs calls that wait for the adapter
     * @param resolvers run calls that wait for the network
     */
    DcPollerGroup(DcDevice device, Executor control, Executor resolvers,
            ClientSessions clientSessions, FabricCounts counts) throws IOException {
        DcFabricConfig config = device.config();
        this.adapter = device.adapter();
        this.clientSessions = clientSessions;
        this.counts = counts;
        int depth = Math.min(config.pool().completions(), adapter.limits().completions());
        queue = new CompletionQueue(adapter, depth);
        closeStack.add(queue::close);
        poller = new Poller("dc-poller-" + adapter.device(), this,
                new AdaptiveSpin(config.spin().toNanos()), System::nanoTime,
                counts.idleSpinNanos()::add);
        initiators = new Initiators(device, queue.queue(), depth, poller, control, counts);
        handles = new AddressHandles(config.pool().handles(),
                new AddressResolver(adapter, device.mlx5(), config, device.gids())::make, resolvers,
                poller);
        // Budgets are given back on the poller, which looks again at once, so no waker is needed.
        budgets = new PortBudgets(config.outstanding().perPrincipal(),
                config.outstanding().perPort(), _ -> {});
        workRequestBuilder = new WorkRequestBuilder(adapter.slabKeys(),
                initiators.entriesPerRequest(),
                config.key().value());
        closeStack.add(workRequestBuilder::close);
    }

    void start() {
        poller.start();
    }

    Poller poller() {
        return poller;
    }

    Initiators initiators() {
        return initiators;
    }

    AddressHandles handles() {
        return handles;
    }

    PortBudgets budgets() {
        return budgets;
    }

    FabricCounts counts() {
        return counts;
    }

    TenantPool pool(DcClient peer) {
        return initiators.pool(peer.tenant());
    }

    /** Returns whether the fabric is closing. Any thread. */
    boolean isClosing() {
        return closing;
    }

    /** Queues a transfer that may have something to post. */
    void ready(DcTransfer transfer) {
        if (!transfer.isQueued()) {
            transfer.queued(true);
            ready.add(transfer);
        }
    }

    @Override
    public int poll() {
        int polled = queue.poll();
        for (int i = 0; i < polled; i++) {
            dispatch(queue.batch(), i);
        }
        return polled + pump();
    }

    private void dispatch(Completions batch, int index) {
        long request = batch.workRequestId(index);
        Initiator initiator = initiators.find(Initiator.initiatorOf(request));
        if (initiator == null) {
            log.debug("completion of an initiator that is gone, or was reset");
            return;
        }
        int status = batch.status(index);
        boolean isGood = status == Completions.SUCCESS;
        try {
            if (!isGood && !initiator.isBroken()) {
                failed(initiator, status);
            }
            initiator.sends().completed(Initiator.positionOf(request), isGood);
        } catch (RuntimeException | Error e) {
            log.error("dc: a completion", e);
            initiators.fail(initiator, new TransferException(Reason.UNAVAILABLE,
                    "an error of this side: " + e));
        }
    }

    private void failed(Initiator initiator, int status) {
        TransferException reason = reason(status);
        DcTransfer user = initiator.user();
        if (user != null) {
            log.info("dc: a request of principal {}: {}", user.principal(), reason.getMessage());
            if (reason.reason() == Reason.REMOTE_ACCESS) {
                clientSessions.accessError(user.principal());
            } else {
                user.forgetWay();
            }
        }
        initiators.fail(initiator, reason);
    }

    private TransferException reason(int status) {
        if (Completions.isRemoteAccess(status)) {
            return new TransferException(Reason.REMOTE_ACCESS,
                    "the client's adapter refused the key or the range: " + text(status));
        }
        return new TransferException(Reason.PEER_GONE,
                status == Completions.RETRY_EXCEEDED
                        ? "the client's adapter does not answer, or has another DC key or MTU"
                        : "the request broke: " + text(status));
    }

    private String text(int status) {
        try {
            return adapter.verbs().statusText(status);
        } catch (IOException e) {
            return "status " + status;
        }
    }

    /** Gives each waiting transfer one turn; returns how many posted something. */
    private int pump() {
        int active = 0;
        for (int left = ready.size(); left > 0; left--) {
            DcTransfer transfer = ready.remove();
            transfer.queued(false);
            active += post(transfer) ? 1 : 0;
        }
        return active;
    }

    /** Posts the slices that fit, by one call; returns whether there were any. */
    private boolean post(DcTransfer transfer) {
        WorkRequestBuilder.Route route = transfer.findRoute();
        if (route == null) {
            return false;
        }
        SendQueue sends = route.sends();
        int room = sends.room();
        DcWork appending = null;
        try {
            DcWork work = transfer.findNext();
            while (work != null && fits(route, transfer, work)) {
                if (sends.room() == room) {
                    route.queuePair().start();
                }
                transfer.taken();
                appending = work;
                workRequestBuilder.append(route, work);
                appending = null;
                work = transfer.findNext();
            }
            if (work != null) {
                ready(transfer);
            }
        } catch (RuntimeException | Error e) {
            forget(route, transfer, room, appending, e);
            return true;
        }
        int added = room - sends.room();
        if (added > 0) {
            complete(route, added);
        }
        return added > 0;
    }

    private boolean fits(WorkRequestBuilder.Route route, DcTransfer transfer, DcWork work) {
        return workRequestBuilder.requests(work.slice().slice()) <= route.sends().room()
                && transfer.budget().tryTake(work.slice().bytes(), POLLER);
    }

    /**
     * Handles a failure on this side, after which nothing of the batch is posted.
     *
     * @param room the send queue's room before the batch
     * @param appending the slice whose requests may have been added in part; null if none
     */
    private static void forget(WorkRequestBuilder.Route route, DcTransfer transfer, int room,
            @Nullable DcWork appending, Throwable e) {
        log.error("dc: a request cannot be posted", e);
        if (appending != null || route.sends().room() < room) {
            route.queuePair().abort();
        }
        transfer.stop(new TransferException(Reason.UNAVAILABLE, "an error of this side: " + e));
        route.sends().refused(room - route.sends().room());
        if (appending != null) {
            appending.ended(false);
        }
    }

    private void complete(WorkRequestBuilder.Route route, int added) {
        int error = route.queuePair().complete();
        if (error != 0) {
            initiators.fail(route.initiator(), new TransferException(Reason.UNAVAILABLE,
                    "the adapter took no more requests: errno " + error));
            route.sends().refused(added);
        }
    }

    @Override
    public void arm() {
        queue.arm();
    }

    @Override
    public void sleep(long nanos) {
        queue.sleep(nanos);
    }

    @Override
    public void wake() {
        queue.wake();
    }

    /** Ends every request; completes when no byte moves. Any thread. */
    CompletableFuture<Void> end() {
        closing = true;
        CompletableFuture<Void> ended = new CompletableFuture<>();
        poller.execute(() -> {
            var _ = initiators.close().thenRun(() -> {
                handles.close();
                ended.complete(null);
            });
        });
        return ended;
    }

    /** Closes the poller, after {@link #end} has completed. */
    @Override
    public void close() {
        poller.close();
        if (adapter.isKeptForGood()) {
            return;
        }
        IOException failure = new IOException("not all of a poller could be given back");
        closeStack.run(failure);
        if (failure.getSuppressed().length > 0) {
            throw new UncheckedIOException(failure);
        }
    }
}
