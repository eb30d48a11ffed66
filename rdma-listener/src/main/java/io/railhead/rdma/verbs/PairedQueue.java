package io.railhead.rdma.verbs;

import io.railhead.os.adapter.PairedRoute;
import io.railhead.os.adapter.QueuePairEnd;
import io.railhead.protocol.message.EndReason;
import io.railhead.rdma.QueuePairState;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.TransferException.Reason;
import io.railhead.rdma.pairing.PairedSession;
import io.railhead.rdma.pairing.StagingArea;
import io.railhead.rdma.poller.Poller;
import io.railhead.rdma.session.PeerSession;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The gateway's end of one pair, and its session. Its poller only, unless said otherwise.
 *
 * <pre>
 *   OPEN ──the session ends, any error, or nothing moved for long──▶ BROKEN ──drained,
 *                                                                   destroyed──▶ GONE
 * </pre>
 *
 * There are no messages: an HTTP request ends the session, or an error does. The peer may write its
 * own {@link StagingMemory} only, and the gateway sends only the requests' transfers.
 */
final class PairedQueue implements QueuePairConnection.Owner, TransferQueue, PairedSession {
    /** The peer can send one immediate value, so one receive suffices. */
    static final int RECEIVES = 1;
    private static final Logger log = LoggerFactory.getLogger(PairedQueue.class);
    private static final long DRAIN_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final VerbsPeers peers;
    private final PeerSession session;
    private final Port port;
    private final PollerGroup pollerGroup;
    private final QueuePairConnection queuePairConnection;
    private final PairedRoute route;
    private final PairedQueues owner;
    private final @Nullable Staged staged;
    private final CompletableFuture<Void> gone = new CompletableFuture<>();
    private volatile long usedNanos = System.nanoTime();
    private volatile boolean held;
    private QueuePairState counted = QueuePairState.OPEN;

    /** The memory that the peer writes, the value that reports the end, and that report. */
    record Staged(StagingMemory memory, int cookie, CompletableFuture<Void> filled) {}

    PairedQueue(PeerSession session, Port port, PollerGroup pollerGroup,
            QueuePairConnection queuePairConnection,
            PairedRoute route, @Nullable Staged staged, PairedQueues owner) {
        this.peers = owner.peers();
        this.session = session;
        this.port = port;
        this.pollerGroup = pollerGroup;
        this.queuePairConnection = queuePairConnection;
        this.route = route;
        this.staged = staged;
        this.owner = owner;
        queuePairConnection.owner(this);
        session.peer(route.peer().gid().getHostAddress());
        peers.counts().entered(counted);
    }

    /** Starts the session, which may be used from now on. */
    void start() {
        queuePairConnection.within(port.budgets().enter(session.principal()));
        peers.counts().sessionOpened();
        log.info("verbs session {} paired: principal {}, {}",
                session.label(), session.principal(), route.peer().gid().getHostAddress());
        session.onEnd(() -> pollerGroup.poller().execute(this::sessionEnded));
        awaitIdleness(owner.idle().toNanos());
    }

    private void awaitIdleness(long nanos) {
        pollerGroup.poller().schedule(nanos, () -> {
            long now = System.nanoTime();
            if (isSilent(now)) {
                session.end(EndReason.SILENT);
            } else if (isOpen() && !held) {
                awaitIdleness(Math.max(silenceLeft(now), TimeUnit.MILLISECONDS.toNanos(1)));
            }
        });
    }

    boolean isSilent(long nowNanos) {
        return isOpen() && !held && silenceLeft(nowNanos) <= 0 && queuePairConnection.isQuiet();
    }

    private boolean isOpen() {
        return counted == QueuePairState.OPEN;
    }

    private long silenceLeft(long nowNanos) {
        return owner.idle().toNanos() - (nowNanos - usedNanos);
    }

    private void sessionEnded() {
        queuePairConnection.fail(session.endReason(),
                "its session ended: " + session.endReason().word());
    }

    @Override
    public PeerSession session() {
        return session;
    }

    @Override
    public QueuePairEnd own() {
        return route.own();
    }

    @Override
    public RemoteBuffer window(long address, long length, int key) {
        requireOpen();
        if (length < 1 || Long.compareUnsigned(address + length - 1, address) < 0) {
            throw new TransferException(Reason.OUT_OF_BOUNDS, "a window of "
                    + Long.toUnsignedString(length) + " bytes at " + Long.toHexString(address)
                    + " cannot be");
        }
        return new RemoteBuffer(session, address, length, key);
    }

    private void requireOpen() {
        if (!session.isOpen()) {
            throw new TransferException(Reason.UNKNOWN_SESSION,
                    "session " + session.number() + " has ended");
        }
    }

    /** Begins a transfer. The window must belong to this open session. */
    Transfer begin(RemoteBuffer window) {
        usedNanos = System.nanoTime();
        session.asked();
        Staged mine = staged;
        if (mine != null) {
            return new StagedTransfer(session, requireFilled(mine));
        }
        return new VerbsTransfer(peers.counts(), window, new VerbsRegion(this, window.address(),
                window.length(), window.key()));
    }

    private static StagingMemory requireFilled(Staged staged) {
        if (!staged.filled().isDone() || staged.filled().isCompletedExceptionally()) {
            throw new TransferException(Reason.UNKNOWN_KEY, "nothing was staged");
        }
        return staged.memory();
    }

    @Override
    public CompletionStage<Void> announce(RemoteBuffer window, int cookie) {
        ImmediateWrite immediateWrite = new ImmediateWrite(window, cookie);
        pollerGroup.poller().execute(() -> queuePairConnection.transfer(immediateWrite));
        return immediateWrite.outcome();
    }

    @Override
    public void hold() {
        held = true;
    }

    @Override
    public Optional<StagingArea> staging() {
        Staged mine = staged;
        return mine == null
                ? Optional.empty()
                : Optional.of(new StagingArea(mine.memory().address(), mine.memory().key(),
                        new RemoteBuffer(session, mine.memory().address(), mine.memory().bytes(),
                                mine.memory().key()),
                        mine.filled().copy()));
    }

    @Override
    public void end(EndReason reason) {
        session.end(reason);
    }

    @Override
    public QueuePairConnection link() {
        return queuePairConnection;
    }

    @Override
    public Poller poller() {
        return pollerGroup.poller();
    }

    @Override
    public Port port() {
        return port;
    }

    @Override
    public int portNumber() {
        return route.port();
    }

    @Override
    public boolean isClosing() {
        return peers.isClosing();
    }

    @Override
    public Duration fenceGrace() {
        return peers.config().fenceGrace();
    }

    @Override
    public void received(ByteBuffer message) {
        queuePairConnection.fail(EndReason.PROTOCOL,
                "the peer sent a message, where there are none");
    }

    @Override
    public void announced(int value, int bytes) {
        Staged mine = staged;
        if (mine == null || value != mine.cookie() || bytes != mine.memory().bytes()) {
            queuePairConnection.fail(EndReason.PROTOCOL,
                    "an unexpected immediate value, with " + bytes + " bytes");
            return;
        }
        owner.revoke(this, mine);
    }

    @Override
    public void quiet() {
        usedNanos = System.nanoTime();
    }

    @Override
    public void broken(EndReason reason, String detail) {
        count(QueuePairState.BROKEN);
        log.info("verbs session {}: {}", session.label(), detail);
        session.end(reason);
        failStaging();
        pollerGroup.poller().schedule(DRAIN_NANOS, () -> {
            if (!gone.isDone()) {
                log.warn("verbs session {}: its queue pair is destroyed undrained",
                        session.label());
                owner.destroy(this);
            }
        });
    }

    private void failStaging() {
        if (staged != null) {
            staged.filled().completeExceptionally(session.brokenOff());
        }
    }

    @Override
    public void drained() {
        owner.destroy(this);
    }

    /** Completes when everything is freed, except what is kept for good. Any thread. */
    CompletableFuture<Void> whenGone() {
        return gone;
    }

    /**
     * Destroys the queue pair and frees its memory, which no adapter uses then; false on failure.
     * Control thread.
     */
    boolean tryDestroy() {
        if (!pollerGroup.adapter().tryDestroy(queuePairConnection.queuePair())) {
            return false;
        }
        if (staged != null) {
            owner.free(staged.memory());
        }
        return true;
    }

    /** Handles the destruction of the queue pair. */
    void gone() {
        peers.counts().left(counted);
        queuePairConnection.gone();
        pollerGroup.leave(queuePairConnection.id(), RECEIVES);
        over();
    }

    /**
     * Handles a queue pair that could not be destroyed: all memory that it may touch is kept for
     * good.
     */
    void kept() {
        count(QueuePairState.KEPT);
        over();
    }

    private void count(QueuePairState next) {
        peers.counts().left(counted);
        counted = next;
        peers.counts().entered(next);
    }

    private void over() {
        port.budgets().exit(session.principal());
        peers.counts().sessionEnded();
        gone.complete(null);
    }
}
