package io.railhead.rdma.loopback;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.unix.PeerCredentials;
import io.netty.util.concurrent.Future;
import io.railhead.os.DescriptorMessage;
import io.railhead.os.DescriptorMessage.Nothing;
import io.railhead.os.DescriptorMessage.One;
import io.railhead.protocol.channel.EndedMessage;
import io.railhead.protocol.message.Bytes32;
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
import io.railhead.rdma.session.PeerSession;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The gateway's end of one connection, and the session that is proven on it. Event loop only,
 * except {@link #end}.
 *
 * <pre>
 *   HELLO ─▶ PROOF ─▶ READY ◀───────────────────────────────────────┐
 *                       ├─ REGISTER, BOUNCE ─▶ DESCRIPTOR ──────────┤
 *                       ├─ ATTACH ───▶ ATTACHING ─PROOF─▶ CHECKING ─┤
 *                       └─ DEREGISTER ─▶ RETIRING ──────────────────┘
 * </pre>
 *
 * Requests are served in all of these stages except DESCRIPTOR, and answered there too: a peer
 * sends nothing between REGISTER and the descriptor.
 *
 * Netty reads bytes only: the kernel closes a descriptor that comes unasked. Only in the stage
 * DESCRIPTOR the channel does not read, and a {@link DescriptorInbox} does.
 *
 * <p> After a session's end the socket is closed last, when no copy touches the peer's memory. The
 * peer may take the close as the return of its buffers.
 *
 * <p> A long class: it is the protocol, one message a method.
 */
final class LoopbackConnection extends MessageHandler {
    private static final Logger log = LoggerFactory.getLogger(LoopbackConnection.class);

    /**
     * The number of keep-alive intervals after which a session ends that is silent, or has not made
     * a copy that it was asked for.
     */
    private static final int SILENT_INTERVALS = 3;

    private enum Stage {
        HELLO,
        PROOF,
        READY,
        DESCRIPTOR,
        ATTACHING,
        CHECKING,
        RETIRING,
        ENDED
    }

    /** The HELLO of a peer, and the gateway's response. */
    private record Handshake(PeerSession session, Bytes32 clientNonce, Bytes32 serverNonce) {}

    private final LoopbackPeers peers;
    private final EpollDomainSocketChannel channel;
    private Stage stage = Stage.HELLO;
    private boolean admitted;
    private @Nullable Handshake handshake;
    private @Nullable PeerBuffers buffers;
    private @Nullable LoopbackChannel requests;
    private @Nullable BounceSyncs syncs;
    private @Nullable Future<?> keepAlive;
    private int silentIntervals;
    private @Nullable DescriptorInbox inbox;
    private @Nullable Future<?> deadline;

    LoopbackConnection(LoopbackPeers peers, EpollDomainSocketChannel channel) {
        this.peers = peers;
        this.channel = channel;
    }

    /** Ends the session, if there is one, and then the connection. Any thread. */
    ChannelFuture end(EndReason reason) {
        channel.eventLoop().execute(() -> {
            if (buffers == null) {
                closeSocket();
            } else {
                buffers.session().end(reason);
            }
        });
        return channel.closeFuture();
    }

    @Override
    public void channelActive(ChannelHandlerContext context) throws MessageException {
        admitted = peers.tryAdmit(this);
        if (!admitted) {
            refuseAndClose(context, Refusal.BUSY);
            return;
        }
        startDeadline(context);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        enter(Stage.ENDED);
        cancelDeadline();
        if (keepAlive != null) {
            keepAlive.cancel(false);
        }
        if (buffers != null) {
            buffers.session().end(EndReason.PEER_GONE);
            requireRequests().end();
            peers.counts().sessionEnded();
        } else if (admitted) {
            peers.leftUnproven();
        }
        peers.gone(this);
    }

    @Override
    void received(ChannelHandlerContext context, int type, ByteBuffer bytes, int payload, int end)
            throws IOException {
        silentIntervals = 0;
        switch (stage) {
            case HELLO -> hello(context, require(Hello.class, type, bytes, payload));
            case PROOF -> proof(context, require(Proof.class, type, bytes, payload));
            case READY, ATTACHING, CHECKING, RETIRING -> {
                if (type == MessageHeader.REQUESTS) {
                    requireRequests().requests(bytes, payload, end);
                } else {
                    told(context, requireBuffers(), MessageCodec.decode(type, bytes, payload));
                }
            }
            case ENDED -> log.debug("loopback message after the end");
            case DESCRIPTOR -> throw outOfOrder(type);
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        if (requests != null) {
            requests.readComplete();
        }
    }

    private void hello(ChannelHandlerContext context, Hello hello) throws MessageException {
        PeerSession session = peers.sessions().findPending(hello.sessionId(), LoopbackFabric.NAME);
        if (session == null) {
            refuseAndClose(context, Refusal.UNKNOWN_SESSION);
            return;
        }
        Bytes32 serverNonce = Bytes32.random(peers.random());
        handshake = new Handshake(session, hello.nonce(), serverNonce);
        enter(Stage.PROOF);
        send(context, new Challenge(serverNonce));
    }

    private void proof(ChannelHandlerContext context, Proof proof) throws IOException {
        if (handshake == null) {
            throw outOfOrder(proof);
        }
        PeerSession session = handshake.session();
        PeerCredentials process = channel.peerCredentials();
        session.peer("uid " + process.uid() + ", pid " + process.pid());
        if (!session.isProvenBy(proof.proof(), handshake.clientNonce(), handshake.serverNonce())) {
            refuseAndClose(context, Refusal.BAD_PROOF);
            return;
        }
        if (!peers.sessions().tryProve(session)) {
            refuseAndClose(context, Refusal.UNKNOWN_SESSION);
            return;
        }
        cancelDeadline();
        peers.proved();
        syncs = new BounceSyncs(sync -> channel.eventLoop().execute(() -> ask(context, sync)));
        buffers = new PeerBuffers(peers, session, syncs);
        requests = new LoopbackChannel(peers.engine(), peers.requests(), session, context,
                peers.config().maxRequests());
        startKeepAlive(context);
        enter(Stage.READY);
        log.info("loopback session {} open: principal {}, {}", session.label(),
                session.principal(), session.peer());
        session.onEnd(syncs::end);
        session.onEnd(() -> channel.eventLoop().execute(this::closeWhenUntouched));
        send(context, new Welcome(
                session.serverProof(handshake.clientNonce(), handshake.serverNonce()),
                session.number(), peers.config().limits()));
    }

    private void told(ChannelHandlerContext context, PeerBuffers mine, Message message)
            throws IOException {
        switch (message) {
            case Register register -> offered(context, mine, register, MemoryOffer.of(register));
            case Bounce bounce -> offered(context, mine, bounce, MemoryOffer.of(bounce));
            case Synced synced -> requireSyncs().synced(synced);
            case Attach attach -> attach(context, mine, attach);
            case Proof proof -> attached(context, mine, proof);
            case Deregister(int key) -> deregister(context, mine, key);
            case Ping(long value) -> send(context, new Pong(value));
            case Cancel(int id) -> requireRequests().cancel(id);
            case Bye() -> mine.session().end(EndReason.PEER_GONE);
            case Hello _,Challenge _,Welcome _,Refused _,SendDescriptor _,Registered _,Deregistered _,Sync _,Pong _ ->
                throw outOfOrder(message);
        }
    }

    private void offered(ChannelHandlerContext context, PeerBuffers mine, Message message,
            MemoryOffer offer) throws MessageException {
        requireReady(message);
        Refusal refusal = mine.findRefusal(offer.baseAddress(), offer.length());
        if (refusal != null) {
            refuse(context, refusal);
            return;
        }
        channel.config().setAutoRead(false);
        inbox = DescriptorInbox.open(channel, () -> receive(context, offer));
        enter(Stage.DESCRIPTOR);
        startDeadline(context);
        send(context, new SendDescriptor());
    }

    private void receive(ChannelHandlerContext context, MemoryOffer offer) {
        if (inbox == null) {
            throw new IllegalStateException("only an open inbox has something to receive");
        }
        try {
            received(context, offer, inbox.receive());
        } catch (IOException | RuntimeException | Error e) {
            broken(context, e);
        }
    }

    private void received(ChannelHandlerContext context, MemoryOffer offer,
            DescriptorMessage message)
            throws MessageException {
        switch (message) {
            case Nothing() -> log.trace("loopback socket readable, and nothing there");
            case One(int descriptor) -> take(context, offer, descriptor);
            case DescriptorMessage.Refused(String reason) -> throw new MessageException(reason);
            case DescriptorMessage.Ended() -> {
                enter(Stage.ENDED);
                var _ = end(EndReason.PEER_GONE);
            }
        }
    }

    private void take(ChannelHandlerContext context, MemoryOffer offer, int ownedDescriptor)
            throws MessageException {
        cancelDeadline();
        enter(Stage.READY);
        send(context, requireBuffers().take(offer, ownedDescriptor));
        channel.config().setAutoRead(true);
    }

    private void attach(ChannelHandlerContext context, PeerBuffers mine, Attach attach)
            throws IOException {
        requireReady(attach);
        Message answer = mine.attach(attach, channel.peerCredentials());
        if (answer instanceof Challenge) {
            enter(Stage.ATTACHING);
        }
        send(context, answer);
    }

    private void attached(ChannelHandlerContext context, PeerBuffers mine, Proof proof)
            throws MessageException {
        if (stage != Stage.ATTACHING) {
            throw outOfOrder(proof);
        }
        enter(Stage.CHECKING);
        var _ = mine.attached(proof.proof(), channel.eventLoop())
                .thenAccept(answer -> checked(context, answer));
    }

    private void checked(ChannelHandlerContext context, Message answer) {
        if (stage != Stage.CHECKING) {
            return;
        }
        enter(Stage.READY);
        try {
            send(context, answer);
        } catch (MessageException e) {
            broken(context, e);
        }
    }

    private void deregister(ChannelHandlerContext context, PeerBuffers mine, int key)
            throws MessageException {
        requireReady(new Deregister(key));
        CompletableFuture<Void> untouched = mine.retire(key);
        if (untouched == null) {
            refuse(context, Refusal.UNKNOWN_KEY);
            return;
        }
        enter(Stage.RETIRING);
        var _ = untouched.whenCompleteAsync((_, failure) -> retired(context, key, failure),
                channel.eventLoop());
    }

    private void retired(ChannelHandlerContext context, int key, @Nullable Throwable failure) {
        if (stage != Stage.RETIRING) {
            return;
        }
        enter(Stage.READY);
        try {
            if (failure != null) {
                throw new MessageException("a buffer could not be released: " + failure);
            }
            send(context, new Deregistered(key));
        } catch (MessageException e) {
            broken(context, e);
        }
    }

    private void ask(ChannelHandlerContext context, Sync sync) {
        if (stage == Stage.ENDED) {
            return;
        }
        try {
            send(context, sync);
        } catch (MessageException e) {
            broken(context, e);
        }
    }

    private void closeWhenUntouched() {
        enter(Stage.ENDED);
        requireRequests().end();
        var _ = requireBuffers().untouched()
                .whenCompleteAsync((_, _) -> sayEndAndClose(), channel.eventLoop());
    }

    /**
     * Sends ENDED, then closes. A peer that said BYE gets no message, and a peer that does not read
     * is not waited for.
     */
    private void sayEndAndClose() {
        EndReason reason = requireBuffers().session().endReason();
        if (reason != EndReason.PEER_GONE) {
            for (ByteBuffer message : new EndedMessage(reason, requireRequests().unserved())
                    .encode()) {
                var _ = channel.write(Unpooled.wrappedBuffer(message));
            }
            channel.flush();
        }
        closeSocket();
    }

    private void closeSocket() {
        var _ = channel.close();
    }

    private void refuse(ChannelHandlerContext context, Refusal reason) throws MessageException {
        peers.counts().refused(reason);
        send(context, new Refused(reason));
    }

    private void refuseAndClose(ChannelHandlerContext context, Refusal reason)
            throws MessageException {
        log.info("loopback connection refused: {}", reason);
        enter(Stage.ENDED);
        refuse(context, reason);
        closeSocket();
    }

    @Override
    void broken(ChannelHandlerContext context, Throwable cause) {
        EndReason reason = EndReason.PEER_GONE;
        if (cause instanceof MessageException) {
            peers.counts().refused(Refusal.PROTOCOL);
            reason = EndReason.PROTOCOL;
        } else if (!(cause instanceof IOException)) {
            log.error("loopback connection", cause);
            reason = EndReason.UNAVAILABLE;
        }
        log.info("loopback connection broken: {}", cause.toString());
        enter(Stage.ENDED);
        var _ = end(reason);
    }

    private void startDeadline(ChannelHandlerContext context) {
        deadline = context.executor()
                .schedule(() -> tooSlow(context),
                        peers.config().proofTimeout().toNanos(), TimeUnit.NANOSECONDS);
    }

    private void tooSlow(ChannelHandlerContext context) {
        log.info("loopback connection too slow at {}", stage);
        peers.counts().refused(Refusal.TOO_SLOW);
        enter(Stage.ENDED);
        try {
            send(context, new Refused(Refusal.TOO_SLOW));
        } catch (MessageException e) {
            log.debug("loopback refusal not sent", e);
        }
        var _ = end(EndReason.PROTOCOL);
    }

    private void startKeepAlive(ChannelHandlerContext context) {
        long nanos = peers.config().keepAlive().toNanos();
        keepAlive = context.executor()
                .scheduleAtFixedRate(this::listen, nanos, nanos, TimeUnit.NANOSECONDS);
    }

    private void listen() {
        silentIntervals++;
        // In this stage the descriptor is awaited, which has its own deadline.
        boolean silent = silentIntervals > SILENT_INTERVALS && stage != Stage.DESCRIPTOR;
        if (silent || requireSyncs().isLate(SILENT_INTERVALS)) {
            log.info("loopback session {} silent", requireBuffers().session().label());
            requireBuffers().session().end(EndReason.SILENT);
        }
    }

    private void cancelDeadline() {
        if (deadline != null) {
            deadline.cancel(false);
            deadline = null;
        }
    }

    private void enter(Stage next) {
        if (stage == Stage.DESCRIPTOR && inbox != null) {
            inbox.close();
            inbox = null;
        }
        stage = next;
    }

    private PeerBuffers requireBuffers() {
        if (buffers == null) {
            throw new IllegalStateException("buffers exist from READY on");
        }
        return buffers;
    }

    private BounceSyncs requireSyncs() {
        if (syncs == null) {
            throw new IllegalStateException("bounce buffers exist from READY on");
        }
        return syncs;
    }

    private LoopbackChannel requireRequests() {
        if (requests == null) {
            throw new IllegalStateException("requests are served from READY on");
        }
        return requests;
    }

    private void requireReady(Message message) throws MessageException {
        if (stage != Stage.READY) {
            throw outOfOrder(message);
        }
    }

    private static <M extends Message> M require(Class<M> expected, int type, ByteBuffer bytes,
            int payload) throws MessageException {
        Message message = MessageCodec.decode(type, bytes, payload);
        if (!expected.isInstance(message)) {
            throw outOfOrder(message);
        }
        return expected.cast(message);
    }

    private static MessageException outOfOrder(int type) {
        return new MessageException("type " + type + " is out of order");
    }

    private static MessageException outOfOrder(Message message) {
        return new MessageException(message.getClass().getSimpleName() + " is out of order");
    }
}
