package io.railhead.rdma.verbs;

import static java.util.Objects.requireNonNull;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.RdmaCmId;
import io.railhead.os.adapter.MessageMemory;
import io.railhead.os.adapter.QueuePairConfig;
import io.railhead.os.verbs.Completions;
import io.railhead.os.verbs.PreparedReceives;
import io.railhead.protocol.message.EndReason;
import io.railhead.rdma.poller.SendQueue;
import io.railhead.rdma.poller.SharedBudget;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One queue pair of a connection, with its message buffers and the work that waits to be posted.
 * Created by the thread that makes the connection; then used by its poller only.
 *
 * <pre>
 *   UP ──first error, fail()──▶ DRAINING ──all posted have completed──▶ DRAINED ──▶ gone()
 *                                   └──────────drain took too long─────────────────▲
 * </pre>
 *
 * All receives are posted before the connection is made, and a spare one takes a message's place
 * before the message is read. Their number never falls, so a peer within its credits never finds a
 * queue without receives.
 *
 * <p> Waiting and posted work ends only when the queue pair is drained or destroyed. Nothing can
 * touch a byte of it then.
 *
 * <p> A long class: one state machine over the fields of one queue pair.
 */
final class QueuePairConnection {
    private static final Logger log = LoggerFactory.getLogger(QueuePairConnection.class);
    private static final long RECEIVE = 1L << 32;
    private static final int ID_SHIFT = 33;

    /** The owner of a connection. Called on the poller. */
    interface Owner {

        /** Handles a message, little-endian, which is valid only during the call. */
        void received(ByteBuffer message);

        /**
         * Handles an immediate value behind so many bytes that the peer wrote. For a peer without a
         * right to write, it counts as an ordinary message.
         */
        default void announced(int value, int bytes) {
            received(ByteBuffer.allocate(0));
        }

        /** Reports that nothing waits or is posted any more. */
        void quiet();

        /** Reports that the queue pair is in ERR: nothing more is posted. */
        void broken(EndReason reason, String detail);

        /** Reports that the adapter holds no posted work any more. */
        void drained();
    }

    private enum State {
        UP,
        DRAINING,
        DRAINED
    }

    private final PollerGroup pollerGroup;
    private final int id;
    private final @Nullable RdmaCmId cm;
    private final IbvQP queuePair;
    private final SendQueue sends;
    private final MessageMemory memory;
    private final PreparedReceives receive;
    private final int inlineBytes;
    private final Deque<Outgoing> messages = new ArrayDeque<>();
    private final Deque<Outgoing> transfers = new ArrayDeque<>();
    private final int[] freeBuffers;
    private int freeCount;
    private int spare;
    private int receivesPosted;
    private Budget budget;
    private Owner owner = new Nobody();
    private State state = State.UP;
    private boolean queued;

    /**
     * @param cm null if rdma_cm does not manage the queue pair
     * @param receives the receives that are posted at all times
     * @param inlineBytes the longest message that is copied into its work request
     */
    QueuePairConnection(PollerGroup pollerGroup, int id, @Nullable RdmaCmId cm, IbvQP queuePair,
            int inlineBytes, int receives,
            MessageMemory memory) {
        this.pollerGroup = pollerGroup;
        this.id = id;
        this.cm = cm;
        this.queuePair = queuePair;
        this.inlineBytes = inlineBytes;
        this.memory = memory;
        QueuePairConfig config = pollerGroup.config();
        sends = new SendQueue(config.sendDepth(), config.signalEvery());
        receive = pollerGroup.receives();
        budget = pollerGroup.budget();
        spare = receives;
        freeBuffers = new int[memory.count() - receives - 1];
        for (int i = 0; i < freeBuffers.length; i++) {
            freeBuffers[freeCount++] = receives + 1 + i;
        }
    }

    /** Posts all receives: once, while the queue pair is in INIT. */
    void postReceives() throws IOException {
        int receives = spare;
        try (PreparedReceives chain = pollerGroup.adapter().verbs().prepareReceives(receives, 1)) {
            for (int i = 0; i < receives; i++) {
                add(chain, i);
            }
            receivesPosted = chain.post(queuePair);
            if (receivesPosted != receives) {
                throw new IOException("receives were refused with errno " + chain.refusal());
            }
        }
    }

    private void add(PreparedReceives chain, int buffer) {
        chain.add((long) id << ID_SHIFT | RECEIVE | buffer);
        if (memory.hasBodies()) {
            chain.entry(memory.address(buffer), memory.buffer(buffer).capacity(),
                    memory.localKey());
        }
    }

    int id() {
        return id;
    }

    /** Returns the id of a connection that rdma_cm manages. */
    RdmaCmId cm() {
        return requireNonNull(cm);
    }

    IbvQP queuePair() {
        return queuePair;
    }

    SendQueue sends() {
        return sends;
    }

    Budget budget() {
        return budget;
    }

    int inlineBytes() {
        return inlineBytes;
    }

    MessageMemory memory() {
        return memory;
    }

    boolean isUp() {
        return state == State.UP;
    }

    long sendId(long position) {
        return (long) id << ID_SHIFT | (position & 0xffff_ffffL);
    }

    static int linkOf(long workRequestId) {
        return (int) (workRequestId >>> ID_SHIFT);
    }

    void owner(Owner other) {
        owner = other;
    }

    /** Counts bytes against the principal's budget too. Call before any are posted. */
    void within(SharedBudget principal) {
        budget = pollerGroup.budget(principal);
    }

    /** Returns a buffer for an outgoing message; -1 if all are in use. */
    int tryTakeBuffer() {
        return freeCount == 0 ? -1 : freeBuffers[--freeCount];
    }

    void giveBack(int buffer) {
        freeBuffers[freeCount++] = buffer;
    }

    /** Queues a message before all waiting transfers. */
    void send(Outgoing message) {
        if (state == State.DRAINED) {
            message.dropped();
            return;
        }
        messages.add(message);
        pollerGroup.ready(this);
    }

    /** Returns whether so many messages wait that the peer cannot be reading its responses. */
    boolean isCrowded() {
        return messages.size() >= freeBuffers.length;
    }

    void transfer(Outgoing transfer) {
        if (state == State.DRAINED) {
            transfer.dropped();
            return;
        }
        transfers.add(transfer);
        pollerGroup.ready(this);
    }

    /** Returns the waiting transfers in order; the caller may remove some. */
    Deque<Outgoing> transfers() {
        return transfers;
    }

    boolean hasWaiting() {
        return state == State.UP && !(messages.isEmpty() && transfers.isEmpty());
    }

    /** Returns whether the connection is in its poller group's queue. */
    boolean isQueued() {
        return queued;
    }

    void queued(boolean now) {
        queued = now;
    }

    /** Returns whether nothing waits and nothing is posted. */
    boolean isQuiet() {
        return messages.isEmpty() && transfers.isEmpty() && sends.isDrained();
    }

    /** Posts what may be posted now, up to a turn's limit; returns whether anything was. */
    boolean turn(WorkRequestBatch workRequestBatch) {
        if (state != State.UP) {
            return false;
        }
        workRequestBatch.begin(this);
        addAll(messages, workRequestBatch);
        addAll(transfers, workRequestBatch);
        boolean posted = workRequestBatch.post();
        if (!posted && isUp() && isQuiet()) {
            owner.quiet();
        }
        return posted;
    }

    private static void addAll(Deque<Outgoing> waiting, WorkRequestBatch workRequestBatch) {
        for (Outgoing next = waiting.peek(); next != null
                && next.tryAdd(workRequestBatch); next = waiting.peek()) {
            waiting.remove();
        }
    }

    /** Handles requests that the adapter refused. */
    void refused(int requests, int errno) {
        sends.refused(requests);
        fail(EndReason.UNAVAILABLE, "a post was refused with errno " + errno);
    }

    /** Handles a completion of this connection. */
    void completed(Completions batch, int index) {
        long workRequest = batch.workRequestId(index);
        int status = batch.status(index);
        if (status != Completions.SUCCESS) {
            failed(status);
        }
        if ((workRequest & RECEIVE) == 0) {
            sends.completed((int) workRequest, status == Completions.SUCCESS);
            if (state == State.UP && isQuiet()) {
                owner.quiet();
            }
            pollerGroup.ready(this);
        } else if (status != Completions.SUCCESS) {
            receivesPosted--;
        } else if (isRefilled((int) workRequest)) {
            if (batch.opcode(index) == Completions.RECEIVE_WITH_IMMEDIATE) {
                owner.announced(batch.immediate(index), batch.bytes(index));
            } else {
                owner.received(memory.buffer((int) workRequest).limit(batch.bytes(index)));
            }
        }
        checkDrained();
    }

    /** Handles the failed completion of a request or a receive. */
    void failed(int status) {
        if (state == State.UP) {
            fail(reason(status), "work request failed with status " + status + ", "
                    + text(status));
        }
    }

    private static EndReason reason(int status) {
        return Completions.isRemoteAccess(status) ? EndReason.ACCESS : EndReason.PEER_GONE;
    }

    private String text(int status) {
        try {
            return pollerGroup.adapter().verbs().statusText(status);
        } catch (IOException e) {
            return "of which the library knows no words";
        }
    }

    /**
     * Handles a completed receive; returns whether a spare one replaced it, so that the message may
     * be read.
     */
    private boolean isRefilled(int buffer) {
        receivesPosted--;
        if (state != State.UP) {
            return false;
        }
        try {
            post(spare);
        } catch (IOException e) {
            fail(EndReason.UNAVAILABLE, String.valueOf(e.getMessage()));
            return false;
        }
        spare = buffer;
        return true;
    }

    private void post(int buffer) throws IOException {
        add(receive.clear(), buffer);
        if (receive.post(queuePair) != 1) {
            throw new IOException("a receive was refused with errno " + receive.refusal());
        }
        receivesPosted++;
    }

    /** Fences everything: nothing more is posted, and posted work is flushed. */
    void fail(EndReason reason, String detail) {
        if (state != State.UP) {
            return;
        }
        state = State.DRAINING;
        try {
            pollerGroup.adapter().verbs().toError(queuePair);
        } catch (IOException | RuntimeException | Error e) {
            // Without ERR, the queue pair is destroyed after the drain's time limit, which fences
            // as well.
            log.warn("queue pair of link {} cannot be moved to ERR: {}", id, e.toString());
        }
        owner.broken(reason, detail);
        checkDrained();
    }

    private void checkDrained() {
        if (state == State.DRAINING && receivesPosted == 0 && sends.isDrained()) {
            drained();
        }
    }

    private void drained() {
        state = State.DRAINED;
        dropAll(messages);
        dropAll(transfers);
        owner.drained();
    }

    private static void dropAll(Deque<Outgoing> waiting) {
        for (Outgoing next = waiting.poll(); next != null; next = waiting.poll()) {
            next.dropped();
        }
    }

    /** Handles the destruction of the queue pair, which ends all its work. */
    void gone() {
        if (state != State.DRAINED) {
            state = State.DRAINING;
            sends.abandon();
            receivesPosted = 0;
            drained();
        }
    }

    /** The owner before the real one is known: nothing can arrive. */
    private static final class Nobody implements Owner {

        @Override
        public void received(ByteBuffer message) {
            throw new IllegalStateException("a message before the link has an owner");
        }

        @Override
        public void quiet() {
            throw new IllegalStateException("something was sent before the link had an owner");
        }

        @Override
        public void broken(EndReason reason, String detail) {
            log.debug("a link without owner broke: {}", detail);
        }

        @Override
        public void drained() {
            log.debug("a link without owner drained");
        }
    }
}
