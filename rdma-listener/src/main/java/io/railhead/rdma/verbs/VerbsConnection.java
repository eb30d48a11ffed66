package io.railhead.rdma.verbs;

import static java.util.Objects.requireNonNull;

import io.railhead.cache.memory.PageSlice;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.EndedMessage;
import io.railhead.protocol.channel.RequestView;
import io.railhead.protocol.message.EndReason;
import io.railhead.protocol.message.Message;
import io.railhead.protocol.message.Message.Attach;
import io.railhead.protocol.message.Message.Bounce;
import io.railhead.protocol.message.Message.Bye;
import io.railhead.protocol.message.Message.Cancel;
import io.railhead.protocol.message.Message.Challenge;
import io.railhead.protocol.message.Message.Deregister;
import io.railhead.protocol.message.Message.Deregistered;
import io.railhead.protocol.message.Message.Hello;
import io.railhead.protocol.message.Message.Ping;
import io.railhead.protocol.message.Message.Pong;
import io.railhead.protocol.message.Message.Proof;
import io.railhead.protocol.message.Message.Refused;
import io.railhead.protocol.message.Message.Register;
import io.railhead.protocol.message.Message.Registered;
import io.railhead.protocol.message.Message.SendDescriptor;
import io.railhead.protocol.message.Message.Sync;
import io.railhead.protocol.message.Message.Synced;
import io.railhead.protocol.message.Message.Welcome;
import io.railhead.protocol.message.MessageCodec;
import io.railhead.protocol.message.MessageException;
import io.railhead.protocol.message.MessageHeader;
import io.railhead.protocol.message.Refusal;
import io.railhead.rdma.QueuePairState;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.channel.OutstandingRequests;
import io.railhead.rdma.channel.RequestChannel;
import io.railhead.rdma.poller.Poller;
import io.railhead.rdma.session.PeerSession;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The gateway's end of one connection, and the session that is proven on it. Its poller only,
 * unless said otherwise.
 *
 * <pre>
 *   PROVING ─PROOF─▶ OPEN ──end said in order──▶ LEAVING ──last words sent──▶ BROKEN ──drained,
 *      └───────────────┴──── any error, or the peer went ─────────────────────▲      destroyed──▶ GONE
 * </pre>
 *
 * HELLO came with the connection request and CHALLENGE with its acceptance. LEAVING waits for
 * posted work before it sends its last messages; in BROKEN the queue pair is in ERR. In both,
 * nothing more is posted for a transfer, and its slices end once nothing can touch them.
 *
 * <p> A long class: it is the protocol, one message a method.
 */
final class VerbsConnection implements QueuePairConnection.Owner, TransferQueue, RequestChannel {
    private static final Logger log = LoggerFactory.getLogger(VerbsConnection.class);
    private static final long LEAVE_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final long DRAIN_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final int SILENCES = 3;

    private enum Stage {
        PROVING,
        OPEN,
        LEAVING,
        BROKEN,
        GONE
    }

    private final VerbsPeers peers;
    private final Port port;
    private final PollerGroup pollerGroup;
    private final QueuePairConnection queuePairConnection;
    private final Handshake handshake;
    private final Runnable destroyer;
    private final CompletableFuture<Void> gone = new CompletableFuture<>();
    private final OutstandingRequests requests;
    private final RequestView view = new RequestView();
    private final Deque<VerbsDelivery> spareDeliveries = new ArrayDeque<>();
    private final VerbsRegions regions;
    private Stage stage = Stage.PROVING;
    private QueuePairState counted = QueuePairState.PROVING;
    private boolean proven;
    private boolean toldHandler;
    private EndReason reason = EndReason.PEER_GONE;
    private List<ByteBuffer> lastWords = List.of();
    private boolean saysAnswers;
    /** True while the peer must be told of the end and has not been. */
    private boolean unheard;
    private long heardNanos = System.nanoTime();

    /**
     * @param destroyer destroys the connection and its queue pair on the thread that made them, and
     *            then calls {@link #gone} on the poller
     */
    VerbsConnection(VerbsPeers peers, Port port, PollerGroup pollerGroup,
            QueuePairConnection queuePairConnection, Handshake handshake,
            Destroyer destroyer) {
        this.peers = peers;
        this.port = port;
        this.pollerGroup = pollerGroup;
        this.queuePairConnection = queuePairConnection;
        this.handshake = handshake;
        this.destroyer = () -> destroyer.destroy(this);
        this.regions = new VerbsRegions(peers, this);
        this.requests = new OutstandingRequests(peers.config().maxRequests());
        queuePairConnection.owner(this);
        peers.counts().entered(counted);
    }

    /** Destroys connections: see the constructor. */
    interface Destroyer {
        void destroy(VerbsConnection connection);
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
    public boolean isClosing() {
        return peers.isClosing();
    }

    @Override
    public Duration fenceGrace() {
        return peers.config().fenceGrace();
    }

    /** Completes when everything is freed, except what is kept for good. Any thread. */
    CompletableFuture<Void> whenGone() {
        return gone;
    }

    /** Starts the proof's deadline, before the connection is made. */
    void start() {
        pollerGroup.poller().schedule(peers.config().proofTimeout().toNanos(), () -> {
            if (stage == Stage.PROVING) {
                refuse(Refusal.TOO_SLOW);
                leave(EndReason.PROTOCOL, List.of(encoded(new Refused(Refusal.TOO_SLOW))));
            }
        });
    }

    @Override
    public void received(ByteBuffer message) {
        heardNanos = System.nanoTime();
        try {
            switch (stage) {
                case PROVING -> prove(message, MessageHeader.requireWhole(message));
                case OPEN -> heard(message, MessageHeader.requireWhole(message));
                case LEAVING, BROKEN, GONE -> log.debug("verbs message after the end");
            }
        } catch (MessageException e) {
            log.info("verbs connection of session {}: {}", session().label(), e.getMessage());
            refuse(Refusal.PROTOCOL);
            end(EndReason.PROTOCOL);
        }
    }

    private void prove(ByteBuffer message, int type) throws MessageException {
        if (!(fixed(message, type) instanceof Proof(var proof))) {
            throw new MessageException("PROOF must come first");
        }
        if (!handshake.isProvenBy(proof)) {
            refuse(Refusal.BAD_PROOF);
            leave(EndReason.PROTOCOL, List.of(encoded(new Refused(Refusal.BAD_PROOF))));
            return;
        }
        if (handshake.over().isEmpty()) {
            open();
        } else {
            leave(EndReason.PEER_GONE, handshake.over());
        }
    }

    private void open() {
        if (!peers.sessions().tryProve(session())) {
            refuse(Refusal.UNKNOWN_SESSION);
            leave(EndReason.PROTOCOL, List.of(encoded(new Refused(Refusal.UNKNOWN_SESSION))));
            return;
        }
        stage = Stage.OPEN;
        count(QueuePairState.OPEN);
        proven = true;
        peers.leftUnproven();
        peers.counts().sessionOpened();
        queuePairConnection.within(port.budgets().enter(session().principal()));
        log.info("verbs session {} open: principal {}, {}",
                session().label(), session().principal(), session().peer());
        say(new Welcome(handshake.serverProof(), session().number(), peers.config().limits()));
        session().onEnd(() -> pollerGroup.poller().execute(this::sessionEnded));
        awaitSilence();
    }

    private void awaitSilence() {
        long keepAliveNanos = peers.config().keepAlive().toNanos();
        pollerGroup.poller().schedule(keepAliveNanos, () -> {
            if (stage != Stage.OPEN) {
                return;
            }
            if (System.nanoTime() - heardNanos > SILENCES * keepAliveNanos) {
                end(EndReason.SILENT);
            } else {
                awaitSilence();
            }
        });
    }

    private void heard(ByteBuffer message, int type) throws MessageException {
        if (type == MessageHeader.REQUESTS) {
            requests(message);
            return;
        }
        Message said = fixed(message, type);
        switch (said) {
            case Register register -> say(regions.register(register));
            case Deregister(int key) -> deregister(key);
            case Cancel(int id) -> cancel(id);
            case Ping(long value) -> say(new Pong(value));
            case Bye() -> end(EndReason.PEER_GONE);
            case Hello _,Challenge _,Proof _,Welcome _,Refused _,SendDescriptor _,Registered _,Attach _,Bounce _,Sync _,Synced _,Deregistered _,Pong _ ->
                throw new MessageException(
                        said.getClass().getSimpleName() + " is out of order");
        }
    }

    private static Message fixed(ByteBuffer message, int type) throws MessageException {
        if (type >= MessageHeader.REQUESTS && type != MessageHeader.CANCEL) {
            throw new MessageException("type " + type + " is out of order");
        }
        return requireNonNull(MessageCodec.decode(message));
    }

    private void requests(ByteBuffer message) throws MessageException {
        int limit = message.limit();
        int at = MessageHeader.BYTES;
        while (at < limit && stage == Stage.OPEN) {
            at = view.wrap(message, at, limit);
            requests.add(view.id(), view.operation());
            session().asked();
            peers.handler().handle(view, this);
        }
    }

    private void cancel(int id) {
        if (requests.tryCancel(id)) {
            peers.handler().cancel(id, this);
        }
    }

    private void deregister(int key) {
        if (!(session().deregister(key) instanceof VerbsRegion region)) {
            refuse(Refusal.UNKNOWN_KEY);
            say(new Refused(Refusal.UNKNOWN_KEY));
            return;
        }
        dropWaiting(work -> work.transfer().region().equals(region));
        region.whenUntouched(() -> {
            regions.forget(region);
            say(new Deregistered(key));
        });
    }

    @Override
    public PeerSession session() {
        return handshake.session();
    }

    @Override
    public Executor executor() {
        return pollerGroup.poller();
    }

    @Override
    public void answer(Answer answer) {
        if (pollerGroup.poller().isCurrentThread()) {
            answerNow(answer);
        } else {
            pollerGroup.poller().execute(() -> answerNow(answer));
        }
    }

    private void answerNow(Answer answer) {
        if (stage != Stage.OPEN || !requests.contains(answer.id())) {
            return;
        }
        VerbsDelivery verbsDelivery = takeDelivery();
        verbsDelivery.begin(answer.named(session().number()));
        queuePairConnection.send(verbsDelivery);
    }

    @Override
    public void deliver(RemoteBuffer window, @Nullable PageSlice[] ownedSlices, int count,
            Answer answer) {
        String refusal = regions.findRefusal(window, ownedSlices, count);
        if (stage != Stage.OPEN || refusal != null) {
            for (int i = 0; i < count; i++) {
                requireNonNull(ownedSlices[i]).close();
            }
            if (refusal != null) {
                answerNow(Answer.declined(answer.id(), refusal));
            }
            return;
        }
        VerbsRegion region = (VerbsRegion) requireNonNull(session().findRegion(window.key()));
        VerbsDelivery verbsDelivery = takeDelivery();
        verbsDelivery.begin(region, window, ownedSlices, count, answer);
        queuePairConnection.transfer(verbsDelivery);
    }

    private VerbsDelivery takeDelivery() {
        VerbsDelivery spare = spareDeliveries.poll();
        return spare == null ? new VerbsDelivery(this) : spare;
    }

    void giveBack(VerbsDelivery verbsDelivery) {
        spareDeliveries.push(verbsDelivery);
    }

    /** Returns the request's credit to the peer, since its answer is about to be posted. */
    void answering(int id) {
        boolean _ = requests.remove(id);
    }

    void delivered(long bytes) {
        peers.counts().written(bytes);
        session().moved(bytes);
    }

    void undelivered() {
        peers.counts().refused(session().brokenOff().reason());
    }

    private void sessionEnded() {
        if (stage == Stage.OPEN) {
            end(session().endReason());
        }
    }

    /** Ends the session because the fabric closes. */
    void shutDown() {
        end(EndReason.SHUTTING_DOWN);
    }

    /** Handles the peer's disconnection. */
    void disconnected() {
        queuePairConnection.fail(EndReason.PEER_GONE, "the peer disconnected");
    }

    /** Handles the loss of the device: no message can be sent or received. */
    void deviceLost() {
        queuePairConnection.fail(EndReason.UNAVAILABLE, port.health().reason());
    }

    private void end(EndReason why) {
        if (stage == Stage.OPEN) {
            saysAnswers = why != EndReason.PEER_GONE;
            unheard = saysAnswers;
        }
        leave(why, List.of());
    }

    /**
     * Ends the session, waits for posted work, sends the last messages, and breaks the queue pair.
     */
    private void leave(EndReason why, List<ByteBuffer> words) {
        if (stage != Stage.PROVING && stage != Stage.OPEN) {
            return;
        }
        stage = Stage.LEAVING;
        count(QueuePairState.LEAVING);
        reason = why;
        lastWords = words;
        endSession();
        queuePairConnection.transfers().removeIf(waiting -> {
            if (!waiting.isBegun()) {
                waiting.dropped();
                return true;
            }
            return false;
        });
        pollerGroup.poller()
                .schedule(LEAVE_NANOS,
                        () -> queuePairConnection.fail(reason, "it took too long to leave"));
        if (queuePairConnection.isQuiet()) {
            quiet();
        }
    }

    @Override
    public void quiet() {
        if (stage != Stage.LEAVING) {
            return;
        }
        if (saysAnswers) {
            saysAnswers = false;
            lastWords = ended().encode();
        }
        if (lastWords.isEmpty()) {
            unheard = false;
            queuePairConnection.fail(reason, "left in order");
            return;
        }
        List<ByteBuffer> words = lastWords;
        lastWords = List.of();
        words.forEach(word -> queuePairConnection.send(new MessageSend(queuePairConnection, word)));
    }

    @Override
    public void broken(EndReason why, String detail) {
        if (stage != Stage.LEAVING) {
            reason = why;
            log.info("verbs connection of session {} broken: {}", session().label(), detail);
        }
        unheard |= stage == Stage.OPEN;
        stage = Stage.BROKEN;
        count(QueuePairState.BROKEN);
        endSession();
        if (unheard) {
            peers.ended().remember(session(), ended().encode());
        }
        pollerGroup.poller().schedule(DRAIN_NANOS, () -> {
            if (stage == Stage.BROKEN && !gone.isDone()) {
                log.warn("verbs session {}: its queue pair is destroyed undrained",
                        session().label());
                destroyer.run();
            }
        });
    }

    /** Retires the session's buffers, stops its transfers, and tells the handler. Once. */
    private void endSession() {
        if (proven && session().isOpen()) {
            session().end(reason);
        }
        if (proven && !toldHandler) {
            toldHandler = true;
            peers.handler().ended(this);
        }
    }

    private EndedMessage ended() {
        return new EndedMessage(reason, requests.unserved(reason.word()));
    }

    @Override
    public void drained() {
        regions.forgetAll();
        destroyer.run();
    }

    /** Handles the destruction of the queue pair. */
    void gone() {
        if (stage == Stage.GONE) {
            return;
        }
        stage = Stage.GONE;
        peers.counts().left(counted);
        queuePairConnection.gone();
        regions.forgetAll();
        pollerGroup.leave(queuePairConnection.id(), peers.receives());
        pollerGroup.adapter().giveBack(queuePairConnection.memory());
        leavePeers();
        gone.complete(null);
    }

    /**
     * Destroys the queue pair; on success no adapter uses the connection's memory. The thread that
     * made it.
     */
    boolean destroyQueuePair() {
        return pollerGroup.adapter().tryDestroy(queuePairConnection.queuePair());
    }

    /**
     * Handles a queue pair that could not be destroyed: all memory that it may touch is kept for
     * good.
     */
    void kept() {
        stage = Stage.GONE;
        count(QueuePairState.KEPT);
        leavePeers();
        gone.complete(null);
    }

    private void count(QueuePairState next) {
        peers.counts().left(counted);
        counted = next;
        peers.counts().entered(next);
    }

    private void leavePeers() {
        if (proven) {
            port.budgets().exit(session().principal());
            peers.counts().sessionEnded();
        } else {
            peers.leftUnproven();
        }
    }

    /**
     * Sends a response to a message that is no request. A peer that sends on without reading is
     * ended.
     */
    private void say(Message message) {
        if (queuePairConnection.isCrowded()) {
            log.info("verbs session {}: the peer does not read its answers", session().label());
            refuse(Refusal.PROTOCOL);
            end(EndReason.PROTOCOL);
            return;
        }
        queuePairConnection.send(new MessageSend(queuePairConnection, encoded(message)));
    }

    private static ByteBuffer encoded(Message message) {
        return MessageCodec.encode(message);
    }

    private void refuse(Refusal refusal) {
        peers.counts().refused(refusal);
    }
}
