package io.railhead.rdma.verbs;

import static io.railhead.rdma.pairing.PairingException.Reason.NO_ROOM;
import static io.railhead.rdma.pairing.PairingException.Reason.NO_ROUTE;
import static io.railhead.rdma.pairing.PairingException.Reason.NO_STAGING;
import static io.railhead.rdma.pairing.PairingException.Reason.TOO_MANY_SESSIONS;
import static io.railhead.rdma.pairing.PairingException.Reason.UNAVAILABLE;
import static java.util.Objects.requireNonNull;

import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import io.railhead.os.adapter.Adapter;
import io.railhead.os.adapter.PairedRoute;
import io.railhead.os.adapter.QueuePairEnd;
import io.railhead.os.adapter.QueuePairStates;
import io.railhead.os.verbs.VerbsExtensions;
import io.railhead.protocol.message.EndReason;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.TransferException.Reason;
import io.railhead.rdma.pairing.PairRequest;
import io.railhead.rdma.pairing.PairedSession;
import io.railhead.rdma.pairing.Pairing;
import io.railhead.rdma.pairing.PairingException;
import io.railhead.rdma.session.ClientSession;
import io.railhead.rdma.session.PeerSession;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All pairs of a fabric. The control thread creates and destroys their queue pairs; any thread may
 * request one.
 */
final class PairedQueues implements Pairing {
    private static final Logger log = LoggerFactory.getLogger(PairedQueues.class);
    /** Clients of both dialects accept one outstanding READ of the gateway's. */
    private static final int READS = 1;
    private static final int NO_READS = 0;
    private static final int NO_ACCESS = 0;

    private final VerbsExtensions verbs;
    private final VerbsPeers peers;
    private final VerbsFabricConfig.Pairs config;
    private final List<Port> ports;
    private final PortGids gids;
    private final QueuePairStates states;
    private final ConnectionOpening opening;
    private final Map<String, PairedQueue> byId = new ConcurrentHashMap<>();
    private final Map<ClientSession, PairedQueue> bySession = new ConcurrentHashMap<>();
    private final AtomicLong stagingLeft;
    private volatile Executor loop = _ -> {
        throw new IllegalStateException("nothing happens before the loop is known");
    };

    PairedQueues(VerbsExtensions verbs, VerbsPeers peers, VerbsFabricConfig config,
            List<Port> ports, PortGids gids) {
        this.verbs = verbs;
        this.peers = peers;
        this.config = config.pairs();
        this.ports = List.copyOf(ports);
        this.gids = gids;
        this.states = new QueuePairStates(verbs, config.queuePairs());
        this.opening = new ConnectionOpening(states, peers.counts(), PairedQueue.RECEIVES,
                ConnectionOpening.NO_BUFFERS);
        this.stagingLeft = new AtomicLong(config.pairs().stagingBytes());
    }

    /** Sets the control thread, before the first request. */
    void runsOn(Executor running) {
        loop = running;
    }

    VerbsPeers peers() {
        return peers;
    }

    Duration idle() {
        return config.idle();
    }

    @Override
    public CompletionStage<PairedSession> pair(PairRequest request) {
        CompletableFuture<PairedSession> made = new CompletableFuture<>();
        if (peers.isClosing()) {
            made.completeExceptionally(closing());
        } else {
            loop.execute(() -> {
                try {
                    made.complete(make(request));
                } catch (RuntimeException | Error e) {
                    made.completeExceptionally(e);
                }
            });
        }
        return made;
    }

    private static PairingException closing() {
        return new PairingException(UNAVAILABLE, "the fabric is closing");
    }

    @Override
    public PairedSession require(String principal, String id) {
        PairedQueue queue = byId.get(id);
        if (queue == null) {
            throw new TransferException(Reason.UNKNOWN_SESSION, "no session " + id);
        }
        if (!queue.session().principal().equals(principal)) {
            peers.sessions().accessError(principal);
            throw new TransferException(Reason.FOREIGN_SESSION,
                    "session " + queue.session().number() + " is not " + principal + "'s");
        }
        return queue;
    }

    /** Returns the pair of this session; empty for a session that is not paired. */
    @Nullable
    PairedQueue find(ClientSession clientSession) {
        return bySession.get(clientSession);
    }

    private PairedQueue make(PairRequest request) {
        if (peers.isClosing()) {
            throw closing();
        }
        PortGids.Found own = gids.find(ports, request.peer().gid(), request.arrivedAt())
                .orElseThrow(() -> new PairingException(NO_ROUTE,
                        "no adapter here has a GID that reaches "
                                + request.peer().gid().getHostAddress()));
        PeerSession session = peers.sessions()
                .openPaired(request.principal(), VerbsFabric.NAME);
        if (session == null) {
            throw new PairingException(TOO_MANY_SESSIONS,
                    "This principal has too many RDMA sessions.");
        }
        try {
            PairedQueue queue = make(request, own, session);
            byId.put(session.id(), queue);
            bySession.put(session, queue);
            queue.poller().execute(queue::start);
            return queue;
        } catch (IOException e) {
            session.end(EndReason.UNAVAILABLE);
            log.warn("no queue pair could be paired: {}", e.toString());
            throw new PairingException(UNAVAILABLE, String.valueOf(e.getMessage()));
        } catch (RuntimeException | Error e) {
            session.end(EndReason.UNAVAILABLE);
            throw e;
        }
    }

    private PairedQueue make(PairRequest request, PortGids.Found own, PeerSession session)
            throws IOException {
        PollerGroup pollerGroup = own.port().rail();
        PairRequest.Staging asked = request.staging();
        PairedQueue.Staged staged = asked == null
                ? null
                : new PairedQueue.Staged(stage(pollerGroup.adapter(), asked.bytes()),
                        asked.cookie(),
                        new CompletableFuture<>());
        try {
            Steps steps = new Steps(request, own, staged == null
                    ? NO_ACCESS
                    : IbvMr.IBV_ACCESS_REMOTE_WRITE);
            IbvPd domain = staged == null
                    ? pollerGroup.adapter().domain()
                    : staged.memory().domain();
            QueuePairConnection queuePairConnection = opening.tryOpen(pollerGroup, null, domain,
                    steps);
            if (queuePairConnection == null) {
                throw new PairingException(NO_ROOM, "the adapter holds no more queue pairs");
            }
            PairedQueue queue = new PairedQueue(session, own.port(), pollerGroup,
                    queuePairConnection,
                    requireNonNull(steps.route), staged, this);
            pollerGroup.join(queuePairConnection);
            return queue;
        } catch (IOException | RuntimeException | Error e) {
            // If its queue pair could not be destroyed, the memory is kept.
            if (staged != null && !pollerGroup.adapter().isKeptForGood()) {
                free(staged.memory());
            }
            throw e;
        }
    }

    private StagingMemory stage(Adapter adapter, long bytes) throws IOException {
        if (bytes > config.stagingBytes()) {
            throw new PairingException(NO_STAGING, bytes + " bytes are never staged here");
        }
        if (stagingLeft.addAndGet(-bytes) < 0) {
            stagingLeft.addAndGet(bytes);
            throw noRoom(bytes);
        }
        try {
            return new StagingMemory(adapter, bytes);
        } catch (OutOfMemoryError e) {
            stagingLeft.addAndGet(bytes);
            throw noRoom(bytes);
        } catch (IOException | RuntimeException | Error e) {
            stagingLeft.addAndGet(bytes);
            throw e;
        }
    }

    private static PairingException noRoom(long bytes) {
        return new PairingException(NO_ROOM,
                "there is no memory left to stage " + bytes + " bytes in");
    }

    /** Frees staging memory after its queue pair was destroyed. */
    void free(StagingMemory stagingMemory) {
        try {
            stagingMemory.close();
            stagingLeft.addAndGet(stagingMemory.bytes());
        } catch (IOException | RuntimeException | Error e) {
            log.error("{} bytes of staging memory are kept until this process ends",
                    stagingMemory.bytes(), e);
        }
    }

    /** The steps from INIT to RTS, with the peer's end. */
    private final class Steps implements ConnectionOpening.Steps {
        private final PairRequest request;
        private final PortGids.Found own;
        private final int access;
        private @Nullable PairedRoute route;

        Steps(PairRequest request, PortGids.Found own, int access) {
            this.request = request;
            this.own = own;
            this.access = access;
        }

        @Override
        public void toInit(IbvQP queuePair) throws IOException {
            states.toInit(queuePair, own.port().number(), access);
        }

        @Override
        public void toReady(IbvQP queuePair) throws IOException {
            var attributes = verbs.port(own.port().adapter().context(), own.port().number());
            // Clients of neither dialect accept 0 as a packet sequence number.
            int sequence = 1 + peers.random().nextInt(QueuePairEnd.LARGEST_NUMBER);
            QueuePairEnd mine = new QueuePairEnd(queuePair.getQp_num(), own.gid().address(),
                    attributes.lid(), sequence);
            PairedRoute found = new PairedRoute(own.port().number(), own.gid().index(),
                    attributes.activeMtu(), mine, request.peer());
            states.toReady(queuePair, found, NO_READS, READS);
            route = found;
        }
    }

    /** Revokes the peer's right before its bytes are read. Any thread. */
    void revoke(PairedQueue queue, PairedQueue.Staged staged) {
        loop.execute(() -> {
            try {
                staged.memory().revoke();
                staged.filled().complete(null);
            } catch (IOException | RuntimeException | Error e) {
                log.warn("staging memory cannot be taken back", e);
                queue.end(EndReason.UNAVAILABLE);
            }
        });
    }

    /** Destroys a pair. Any thread. */
    void destroy(PairedQueue queue) {
        loop.execute(() -> {
            if (byId.remove(queue.session().id()) == null) {
                return;
            }
            bySession.remove(queue.session());
            boolean destroyed = queue.tryDestroy();
            queue.poller().execute(destroyed ? queue::gone : queue::kept);
        });
    }

    /** Ends every session; completes when everything is freed. */
    CompletableFuture<Void> close() {
        List<CompletableFuture<Void>> gone = new ArrayList<>();
        for (PairedQueue queue : byId.values()) {
            gone.add(queue.whenGone());
            queue.end(EndReason.SHUTTING_DOWN);
        }
        return CompletableFuture.allOf(gone.toArray(CompletableFuture[]::new));
    }
}
