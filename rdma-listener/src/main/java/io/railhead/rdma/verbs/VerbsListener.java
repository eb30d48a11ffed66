package io.railhead.rdma.verbs;

import com.ibm.disni.verbs.IbvQpAttr;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import com.ibm.disni.verbs.RdmaCmId;
import io.railhead.os.adapter.Adapter;
import io.railhead.os.adapter.CmLoop;
import io.railhead.os.adapter.QueuePairConfig;
import io.railhead.os.adapter.QueuePairStates;
import io.railhead.os.devices.RdmaDevices;
import io.railhead.os.verbs.ConnectionParameters;
import io.railhead.os.verbs.VerbsExtensions;
import io.railhead.protocol.message.Bytes32;
import io.railhead.protocol.message.Message;
import io.railhead.protocol.message.Message.Hello;
import io.railhead.protocol.message.Message.Refused;
import io.railhead.protocol.message.MessageCodec;
import io.railhead.protocol.message.MessageException;
import io.railhead.protocol.message.Refusal;
import io.railhead.rdma.session.EndedSessions;
import io.railhead.rdma.session.PeerSession;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Accepts peers: a connection request carries HELLO, its acceptance CHALLENGE, its rejection
 * REFUSED. Creates and destroys their queue pairs. On the control thread only, except
 * {@link #destroy}.
 */
final class VerbsListener implements CmLoop.Listener {
    private static final Logger log = LoggerFactory.getLogger(VerbsListener.class);

    private final VerbsExtensions verbs;
    private final VerbsPeers peers;
    private final QueuePairConfig config;
    private final QueuePairStates states;
    private final ConnectionOpening opening;
    private final RouteCheck routes;
    private final Map<RdmaCmId, Port> ports = new HashMap<>();
    private final Map<RdmaCmId, VerbsConnection> connections = new HashMap<>();
    /**
     * Connections that ended while their port was down; the disconnect is sent once the port is up.
     * A datagram sent through a down port is lost. On soft-RoCE it also breaks the device's own
     * connection queue pair, so that no connection can be made any more.
     */
    private final Map<RdmaCmId, Port> unsaid = new HashMap<>();
    private volatile Executor loop = _ -> {
        throw new IllegalStateException("nothing happens before the loop is known");
    };

    VerbsListener(VerbsExtensions verbs, VerbsPeers peers, VerbsFabricConfig config,
            List<Port> listening) {
        this.verbs = verbs;
        this.peers = peers;
        this.config = config.queuePairs();
        this.states = new QueuePairStates(verbs, config.queuePairs());
        this.opening = new ConnectionOpening(states, peers.counts(), peers.receives(),
                peers.buffers());
        this.routes = new RouteCheck(config.gids(), RdmaDevices::findGid);
        listening.forEach(port -> ports.put(port.listener(), port));
    }

    @Override
    public void tick() {
        ports.values().forEach(this::look);
        if (!unsaid.isEmpty()) {
            unsaid.entrySet().removeIf(entry -> tryFarewell(entry.getKey(), entry.getValue()));
        }
    }

    private void look(Port port) {
        port.look();
        if (port.isDeviceLost()) {
            connections.values()
                    .stream()
                    .filter(connection -> connection.port().equals(port))
                    .forEach(connection -> connection.poller()
                            .execute(connection::deviceLost));
        }
    }

    @Override
    public void event(RdmaCmEvent event) throws IOException {
        EventType type = CmLoop.type(event);
        RdmaCmId id = event.getConnIdPriv();
        log.debug("rdma_cm: {}, status {}", type, event.getStatus());
        switch (type) {
            case RDMA_CM_EVENT_CONNECT_REQUEST -> request(event, id);
            case RDMA_CM_EVENT_DISCONNECTED, RDMA_CM_EVENT_CONNECT_ERROR,
                    RDMA_CM_EVENT_UNREACHABLE, RDMA_CM_EVENT_REJECTED ->
                disconnected(id);
            case RDMA_CM_EVENT_DEVICE_REMOVAL -> removed(id);
            default -> {
                // ESTABLISHED says no more than the peer's PROOF does; other events need no
                // handling.
            }
        }
    }

    /** Handles the removal of a device, which each of its listeners and connections reports. */
    private void removed(RdmaCmId id) {
        VerbsConnection connection = connections.get(id);
        Port port = connection == null ? ports.get(id) : connection.port();
        if (port != null) {
            port.deviceRemoved();
            look(port);
        }
    }

    private void disconnected(RdmaCmId id) {
        VerbsConnection connection = connections.get(id);
        if (connection != null) {
            connection.poller().execute(connection::disconnected);
        }
    }

    private void request(RdmaCmEvent event, RdmaCmId id) throws IOException {
        Port port = ports.get(event.getListenIdPriv());
        if (port == null || peers.isClosing()) {
            reject(id, Refusal.BUSY);
            return;
        }
        ConnectionParameters asked = verbs.parameters(event);
        Handshake handshake;
        try {
            handshake = answer(asked);
        } catch (MessageException e) {
            log.info("verbs connection request refused: {}", e.getMessage());
            reject(id, Refusal.PROTOCOL);
            return;
        }
        if (handshake == null) {
            reject(id, Refusal.UNKNOWN_SESSION);
            return;
        }
        IbvQpAttr route;
        try {
            route = states.route(id);
        } catch (IOException e) {
            log.warn("no route for a connection: {}", e.toString());
            reject(id, Refusal.BUSY);
            return;
        }
        String objection = routes.findObjection(port.adapter().device(), route.getAh_attr());
        if (objection != null) {
            log.error("verbs: {}", objection);
            reject(id, Refusal.WRONG_GID);
        } else if (!peers.tryAdmit()) {
            reject(id, Refusal.BUSY);
        } else {
            admit(id, port, route, handshake, asked);
        }
    }

    /** Returns null if no session of that id waits for its peer or is remembered. */
    private @Nullable Handshake answer(ConnectionParameters asked) throws MessageException {
        Message message = MessageCodec.decode(asked.privateData());
        if (!(message instanceof Hello(var sessionId, var nonce))) {
            throw new MessageException("a connection request must carry HELLO");
        }
        Bytes32 mine = Bytes32.random(peers.random());
        PeerSession pending = peers.sessions().findPending(sessionId, VerbsFabric.NAME);
        if (pending != null) {
            return new Handshake(pending, nonce, mine, List.of());
        }
        EndedSessions.Remembered over = peers.ended().find(sessionId);
        return over == null ? null : new Handshake(over.session(), nonce, mine, over.toSay());
    }

    private void admit(RdmaCmId id, Port port, IbvQpAttr route, Handshake handshake,
            ConnectionParameters asked) throws IOException {
        handshake.session().peer(nameOf(id.getDestination()));
        PollerGroup pollerGroup = port.rail();
        int reads = readDepth(pollerGroup.adapter(), config, asked.initiatorDepth());
        QueuePairConnection queuePairConnection;
        try {
            queuePairConnection = opening.tryOpen(pollerGroup, id, route, reads);
        } catch (IOException | RuntimeException | Error e) {
            log.warn("no queue pair for a connection: {}", e.toString());
            queuePairConnection = null;
        }
        if (queuePairConnection == null) {
            peers.leftUnproven();
            reject(id, Refusal.BUSY);
            return;
        }
        VerbsConnection connection = new VerbsConnection(peers, port, pollerGroup,
                queuePairConnection, handshake,
                this::destroyLater);
        connections.put(id, connection);
        pollerGroup.join(queuePairConnection);
        pollerGroup.poller().execute(connection::start);
        accept(id, queuePairConnection, handshake, reads);
    }

    private static String nameOf(@Nullable SocketAddress peer) {
        return peer instanceof InetSocketAddress address
                ? address.getAddress().getHostAddress() + " port " + address.getPort()
                : String.valueOf(peer);
    }

    private void accept(RdmaCmId id, QueuePairConnection queuePairConnection, Handshake handshake,
            int reads) {
        try {
            id.accept(verbs.connParam(new ConnectionParameters(
                    handshake.challenge(), 0, reads, config.retryCount(),
                    config.rnrRetry(), queuePairConnection.queuePair().getQp_num())));
        } catch (IOException e) {
            log.info("verbs connection not made: {}", e.toString());
            disconnected(id);
        }
    }

    /** Returns the number of outstanding READs that configuration, device and peer all allow. */
    static int readDepth(Adapter adapter, QueuePairConfig config, int granted) {
        return Math.min(Math.min(config.readDepth(), granted),
                Math.min(255, adapter.limits().initiatorReads()));
    }

    private void reject(RdmaCmId id, Refusal refusal) throws IOException {
        log.info("verbs connection refused: {}", refusal);
        peers.counts().refused(refusal);
        try {
            verbs.reject(id, MessageCodec.encode(new Refused(refusal)));
        } finally {
            id.destroyId();
        }
    }

    /** Sets the control thread, before the loop starts. */
    void runsOn(Executor running) {
        loop = running;
    }

    private void destroyLater(VerbsConnection connection) {
        loop.execute(() -> destroy(connection));
    }

    private void destroy(VerbsConnection connection) {
        RdmaCmId id = connection.link().cm();
        if (connections.remove(id) == null) {
            return;
        }
        boolean destroyed = connection.destroyQueuePair();
        Port port = connection.port();
        port.look();
        if (!tryFarewell(id, port)) {
            unsaid.put(id, port);
        }
        connection.poller().execute(destroyed ? connection::gone : connection::kept);
    }

    /** Destroys the id, unless the peer must be told of the end first and cannot be reached now. */
    private static boolean tryFarewell(RdmaCmId id, Port port) {
        if (port.isDeviceLost()) {
            destroy(id, null);
            return true;
        }
        boolean isUp = port.health().usable();
        if (isUp) {
            farewell(id);
        }
        return isUp;
    }

    private static void farewell(RdmaCmId id) {
        destroy(id, Adapter.tryRun(null, () -> {
            int _ = id.disconnect();
        }));
    }

    private static void destroy(RdmaCmId id, @Nullable IOException before) {
        IOException failure = Adapter.tryRun(before, id::destroyId);
        if (failure != null) {
            log.warn("an id could not be destroyed", failure);
        }
    }

    /** Takes no more requests, and ends every session; completes when everything is freed. */
    CompletableFuture<Void> close() {
        List<CompletableFuture<Void>> gone = new ArrayList<>();
        for (VerbsConnection connection : connections.values()) {
            gone.add(connection.whenGone());
            connection.poller().execute(connection::shutDown);
        }
        return CompletableFuture.allOf(gone.toArray(CompletableFuture[]::new));
    }

    /** Closes the listeners, after {@link #close} has completed. */
    void closeListeners() {
        unsaid.keySet().forEach(VerbsListener::farewell);
        unsaid.clear();
        for (Port port : ports.values()) {
            IOException failure = Adapter.tryRun(null, () -> port.listener().destroyId());
            if (failure != null) {
                log.warn("a listener could not be destroyed", failure);
            }
        }
        ports.clear();
    }
}
