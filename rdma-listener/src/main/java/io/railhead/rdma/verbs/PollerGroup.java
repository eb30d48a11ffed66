package io.railhead.rdma.verbs;

import com.ibm.disni.verbs.IbvCQ;
import io.railhead.os.AdaptiveSpin;
import io.railhead.os.adapter.Adapter;
import io.railhead.os.adapter.CloseStack;
import io.railhead.os.adapter.QueuePairConfig;
import io.railhead.os.verbs.PreparedReceives;
import io.railhead.protocol.message.EndReason;
import io.railhead.rdma.poller.CompletionHandler;
import io.railhead.rdma.poller.CompletionQueue;
import io.railhead.rdma.poller.Poller;
import io.railhead.rdma.poller.SharedBudget;
import io.railhead.rdma.verbs.VerbsFabricConfig.OutstandingBytes;
import io.railhead.rdma.verbs.VerbsFabricConfig.Polling;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A poller, its completion queue, and the connections that only it touches. A connection joins, on
 * the thread that creates it, before it is accepted; it leaves once it is gone.
 *
 * <p> The completion queue always has room for everything that its connections may have posted, so
 * it cannot overrun. A connection that does not fit is refused.
 */
final class PollerGroup implements CompletionHandler, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(PollerGroup.class);
    private static final int SLOT_BITS = 14;
    private static final int SLOTS = 1 << SLOT_BITS;
    private static final int GENERATIONS = 1 << 16;

    private final int number;
    private final Adapter adapter;
    private final QueuePairConfig config;
    private final OutstandingBytes outstanding;
    private final Poller poller;
    private final CompletionQueue queue;
    private final PreparedReceives receives;
    private final WorkRequestBatch workRequestBatch;
    private final CloseStack closeStack = new CloseStack();
    private final AtomicReferenceArray<@Nullable QueuePairConnection> links = new AtomicReferenceArray<>(
            SLOTS);
    /** Connections with waiting work, each once; some may be blocked. */
    private final Deque<QueuePairConnection> ready = new ArrayDeque<>();
    private int completionsFree;
    private int linkCount;
    private int nextSlot;
    private int generation;

    /** @param number the poller's number on its device, from 0 */
    PollerGroup(int number, Adapter adapter, QueuePairConfig config, Polling polling,
            OutstandingBytes outstanding, LongConsumer spun) throws IOException {
        this.number = number;
        this.adapter = adapter;
        this.config = config;
        this.outstanding = outstanding;
        completionsFree = Math.min(polling.completions(), adapter.limits().completions());
        try {
            queue = new CompletionQueue(adapter, completionsFree);
            closeStack.add(queue::close);
            receives = adapter.verbs().prepareReceives(1, 1);
            closeStack.add(receives::close);
            workRequestBatch = new WorkRequestBatch(adapter, config);
            closeStack.add(workRequestBatch::close);
        } catch (IOException | RuntimeException | Error e) {
            closeStack.run(e);
            throw e;
        }
        poller = new Poller("verbs-poller-" + adapter.device() + "-" + number, this,
                new AdaptiveSpin(polling.spin().toNanos()),
                System::nanoTime, spun);
    }

    void start() {
        poller.start();
    }

    Adapter adapter() {
        return adapter;
    }

    QueuePairConfig config() {
        return config;
    }

    /** Returns the byte budget of a connection whose principal is not known yet. */
    Budget budget() {
        return new Budget(outstanding.perQueuePair());
    }

    /** Returns the byte budget of a connection, within its principal's. */
    Budget budget(SharedBudget principal) {
        return new Budget(outstanding.perQueuePair(), principal, number);
    }

    /** Lets connections that wait for a budget try again. Any thread. */
    void tryAgain() {
        // The poller's own turn will try again anyway.
        if (!poller.isCurrentThread()) {
            poller.execute(PollerGroup::nothing);
        }
    }

    /** Does nothing: a message wakes the poller, and each turn serves waiting connections. */
    private static void nothing() {}

    Poller poller() {
        return poller;
    }

    IbvCQ queue() {
        return queue.queue();
    }

    PreparedReceives receives() {
        return receives;
    }

    /**
     * Reserves room in the completion queue for one more connection; -1 if there is none. Any
     * thread.
     *
     * @return the connection's id, for {@link #join}
     */
    synchronized int tryReserve(int receivesOfLink) {
        int completions = config.sendDepth() + receivesOfLink;
        if (completions > completionsFree || linkCount == SLOTS) {
            return -1;
        }
        completionsFree -= completions;
        linkCount++;
        while (links.get(nextSlot) != null) {
            nextSlot = (nextSlot + 1) % SLOTS;
        }
        generation = (generation + 1) % GENERATIONS;
        int id = generation << SLOT_BITS | nextSlot;
        nextSlot = (nextSlot + 1) % SLOTS;
        return id;
    }

    /** Makes the connection's completions find it. */
    void join(QueuePairConnection queuePairConnection) {
        links.set(queuePairConnection.id() % SLOTS, queuePairConnection);
    }

    /** Undoes {@link #tryReserve}, and {@link #join} if that was called. Any thread. */
    synchronized void leave(int id, int receivesOfLink) {
        links.set(id % SLOTS, null);
        completionsFree += config.sendDepth() + receivesOfLink;
        linkCount--;
    }

    synchronized int links() {
        return linkCount;
    }

    /** Queues a connection that may have something to post. Poller only. */
    void ready(QueuePairConnection queuePairConnection) {
        if (!queuePairConnection.isQueued() && queuePairConnection.hasWaiting()) {
            queuePairConnection.queued(true);
            ready.add(queuePairConnection);
        }
    }

    @Override
    public int poll() {
        int polled = queue.poll();
        for (int i = 0; i < polled; i++) {
            dispatch(i);
        }
        return polled + pump();
    }

    private void dispatch(int index) {
        int id = QueuePairConnection.linkOf(queue.batch().workRequestId(index));
        QueuePairConnection queuePairConnection = links.get(id % SLOTS);
        if (queuePairConnection == null || queuePairConnection.id() != id) {
            // Belongs to a queue pair that was destroyed before it was drained.
            log.debug("completion of a link that is gone: {}", id);
            return;
        }
        try {
            queuePairConnection.completed(queue.batch(), index);
        } catch (RuntimeException | Error e) {
            broken(queuePairConnection, e);
        }
    }

    private static void broken(QueuePairConnection queuePairConnection, Throwable e) {
        log.error("link {}", queuePairConnection.id(), e);
        queuePairConnection.fail(EndReason.UNAVAILABLE, "an error of this side: " + e);
    }

    /** Gives each waiting connection one turn; returns how many posted something. */
    private int pump() {
        int posted = 0;
        for (int left = ready.size(); left > 0; left--) {
            QueuePairConnection queuePairConnection = ready.remove();
            queuePairConnection.queued(false);
            try {
                posted += queuePairConnection.turn(workRequestBatch) ? 1 : 0;
            } catch (RuntimeException | Error e) {
                broken(queuePairConnection, e);
            }
            ready(queuePairConnection);
        }
        return posted;
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

    /** Closes the poller, after its last connection has left. */
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
