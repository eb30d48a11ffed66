package io.railhead.rdma.dc;

import com.ibm.disni.verbs.IbvCQ;
import io.railhead.os.adapter.Adapter;
import io.railhead.os.verbs.DcInitiator;
import io.railhead.rdma.FabricCounts;
import io.railhead.rdma.QueuePairState;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.TransferException.Reason;
import io.railhead.rdma.dc.DcFabricConfig.Sending;
import io.railhead.rdma.poller.SendQueue;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All initiators. The control thread creates, resets and destroys them, since these calls wait for
 * the adapter; otherwise the poller owns them. Their requests always fit into the completion queue:
 * an initiator that would not fit is not created. Poller only, unless said otherwise.
 */
final class Initiators {
    private static final Logger log = LoggerFactory.getLogger(Initiators.class);
    private static final int SIGNAL_EVERY = 16;
    private static final int SLOT_BITS = 14;
    private static final int SLOTS = 1 << SLOT_BITS;
    private static final int GENERATIONS = 1 << 16;

    private final DcDevice device;
    private final Adapter adapter;
    private final DcFabricConfig config;
    private final IbvCQ queue;
    private final Executor poller;
    private final Executor control;
    private final FabricCounts counts;
    private final DcInitiator.Capacity capacity;
    private final int readDepth;
    private final Map<String, TenantPool> pools = new ConcurrentHashMap<>();
    private final @Nullable Initiator[] slots = new Initiator[SLOTS];
    private final CompletableFuture<Void> gone = new CompletableFuture<>();
    private int completionsFree;
    private int live;
    private int generation;
    private volatile boolean closing;

    /**
     * @param completions the depth of the completion queue
     * @param control runs blocking calls, one at a time
     */
    Initiators(DcDevice device, IbvCQ queue, int completions, Executor poller, Executor control,
            FabricCounts counts) {
        this.device = device;
        this.adapter = device.adapter();
        this.config = device.config();
        this.queue = queue;
        this.completionsFree = completions;
        this.poller = poller;
        this.control = control;
        this.counts = counts;
        this.capacity = config.pool().capacity(entries(adapter));
        this.readDepth = Math.min(config.pool().readDepth(), adapter.limits().initiatorReads());
    }

    private static int entries(Adapter adapter) {
        return Math.min(adapter.limits().scatterEntries(), adapter.limits().readScatterEntries());
    }

    /** Returns the entries of each request's scatter list. */
    int entriesPerRequest() {
        return capacity.entries();
    }

    /** Returns the pool of a tenant. Any thread. */
    @Nullable
    TenantPool findPool(String tenant) {
        return pools.get(tenant);
    }

    TenantPool pool(String tenant) {
        return pools.computeIfAbsent(tenant,
                name -> new TenantPool(name, config.pool().initiators(), this));
    }

    /**
     * Returns the initiator that a completion belongs to; null if it is gone or was reset since.
     */
    @Nullable
    Initiator find(int id) {
        Initiator initiator = slots[id % SLOTS];
        return initiator == null || initiator.id() != id ? null : initiator;
    }

    /** Creates an initiator and adds it to the pool later; false if there is no room. */
    boolean tryMake(TenantPool pool) {
        if (closing) {
            return false;
        }
        if (completionsFree < capacity.requests() || live == SLOTS) {
            makeRoom(pool);
            return false;
        }
        completionsFree -= capacity.requests();
        live++;
        control.execute(() -> make(pool));
        return true;
    }

    /**
     * Destroys an idle initiator of another tenant; if there is none, the pool's requests must
     * wait.
     */
    private void makeRoom(TenantPool pool) {
        for (TenantPool other : pools.values()) {
            Initiator idle = other.equals(pool) ? null : other.takeFree();
            if (idle != null) {
                destroy(idle);
                return;
            }
        }
        if (pool.isEmpty()) {
            pool.failWaiting(new TransferException(Reason.UNAVAILABLE,
                    "the adapter holds no more initiators"));
        }
    }

    /** Creates an initiator on the control thread. */
    private void make(TenantPool pool) {
        DcInitiator made = null;
        try {
            made = device.mlx5().createInitiator(adapter.domain(), queue, capacity);
            int mtu = device.port().mtu();
            made.connect(path(mtu));
            DcInitiator connected = made;
            poller.execute(() -> made(pool, connected, mtu));
        } catch (IOException | RuntimeException | Error e) {
            boolean isKept = made != null && !adapter.tryDestroy(made::close);
            poller.execute(() -> notMade(pool, isKept, e));
        }
    }

    private DcInitiator.Path path(int mtu) throws IOException {
        Sending sending = config.sending();
        return new DcInitiator.Path(config.port(), device.gids().requireAny().index(),
                device.port().isEthernet(),
                sending.serviceLevel(), 0, mtu, sending.ackTimeout(), sending.retryCount(),
                sending.rnrRetry(), readDepth);
    }

    private void made(TenantPool pool, DcInitiator queuePair, int mtu) {
        Initiator initiator = new Initiator(pool, queuePair,
                new SendQueue(capacity.requests(), SIGNAL_EVERY));
        initiator.connected(freshId(), mtu);
        slots[initiator.id() % SLOTS] = initiator;
        counts.entered(initiator.state());
        pool.made(true);
        join(initiator);
    }

    private void notMade(TenantPool pool, boolean isKept, Throwable cause) {
        log.warn("dc: no initiator could be made: {}", cause.toString());
        if (isKept) {
            counts.entered(QueuePairState.KEPT);
        } else {
            completionsFree += capacity.requests();
        }
        pool.made(false);
        oneFewer();
        if (pool.isEmpty()) {
            pool.failWaiting(new TransferException(Reason.UNAVAILABLE,
                    "no initiator could be made: " + cause.getMessage()));
        }
    }

    private int freshId() {
        int slot = 0;
        while (slots[slot] != null) {
            slot++;
        }
        return nextGeneration() | slot;
    }

    private int nextGeneration() {
        generation = (generation + 1) % GENERATIONS;
        return generation << SLOT_BITS;
    }

    /** Adds a connected initiator to its pool. */
    private void join(Initiator initiator) {
        if (closing) {
            destroy(initiator);
        } else {
            initiator.pool().add(initiator);
        }
    }

    /** Returns whether the initiator uses the port's current MTU. */
    boolean isCurrent(Initiator initiator) {
        return initiator.mtu() == device.port().mtu();
    }

    /** Stops the initiator's request: after the reset the adapter touches none of its memory. */
    void fail(Initiator initiator, TransferException reason) {
        if (initiator.isBroken()) {
            return;
        }
        reset(initiator);
        DcTransfer user = initiator.user();
        if (user != null) {
            user.stop(reason);
        }
    }

    /** Takes the initiator out of use, and reconnects it. */
    void reset(Initiator initiator) {
        enter(initiator, QueuePairState.BROKEN);
        control.execute(() -> resetNow(initiator));
    }

    /** Resets an initiator on the control thread. */
    private void resetNow(Initiator initiator) {
        try {
            initiator.queuePair().reset();
        } catch (IOException | RuntimeException | Error e) {
            log.warn("dc: an initiator cannot be reset and is destroyed: {}", e.toString());
            destroyNow(initiator);
            return;
        }
        poller.execute(initiator.sends()::abandon);
        if (closing) {
            destroyNow(initiator);
            return;
        }
        try {
            int mtu = device.port().mtu();
            initiator.queuePair().connect(path(mtu));
            poller.execute(() -> connectedAgain(initiator, mtu));
        } catch (IOException | RuntimeException | Error e) {
            log.warn("dc: an initiator cannot be connected again and is destroyed: {}",
                    e.toString());
            destroyNow(initiator);
        }
    }

    private void connectedAgain(Initiator initiator, int mtu) {
        initiator.connected(nextGeneration() | initiator.id() % SLOTS, mtu);
        enter(initiator, QueuePairState.OPEN);
        join(initiator);
    }

    /** Destroys an initiator that no request has. */
    private void destroy(Initiator initiator) {
        enter(initiator, QueuePairState.BROKEN);
        control.execute(() -> destroyNow(initiator));
    }

    /** Destroys an initiator on the control thread. */
    private void destroyNow(Initiator initiator) {
        boolean isGone = adapter.tryDestroy(initiator.queuePair()::close);
        poller.execute(() -> destroyed(initiator, isGone));
    }

    /**
     * Handles the end of a destruction. An initiator that is kept ends none of its slices: the
     * adapter may touch them for ever.
     */
    private void destroyed(Initiator initiator, boolean isGone) {
        slots[initiator.id() % SLOTS] = null;
        if (isGone) {
            initiator.sends().abandon();
            completionsFree += capacity.requests();
            counts.left(initiator.state());
        } else {
            enter(initiator, QueuePairState.KEPT);
        }
        initiator.pool().lost();
        oneFewer();
        pools.values().forEach(TenantPool::tryAgain);
    }

    private void enter(Initiator initiator, QueuePairState next) {
        counts.left(initiator.state());
        initiator.state(next);
        counts.entered(next);
    }

    private void oneFewer() {
        live--;
        completeWhenGone();
    }

    private void completeWhenGone() {
        if (closing && live == 0) {
            gone.complete(null);
        }
    }

    /** Ends every request; completes when no initiator is left except those kept for good. */
    CompletableFuture<Void> close() {
        closing = true;
        TransferException reason = new TransferException(Reason.UNAVAILABLE,
                "the fabric is closing");
        for (TenantPool pool : pools.values()) {
            pool.failWaiting(reason);
            pool.takeAllFree().forEach(this::destroy);
        }
        for (Initiator initiator : slots) {
            if (initiator != null) {
                fail(initiator, reason);
            }
        }
        completeWhenGone();
        return gone;
    }
}
