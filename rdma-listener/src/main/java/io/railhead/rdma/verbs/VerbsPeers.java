package io.railhead.rdma.verbs;

import io.railhead.rdma.FabricCounts;
import io.railhead.rdma.channel.RequestHandler;
import io.railhead.rdma.session.ClientSessions;
import io.railhead.rdma.session.EndedSessions;
import java.security.SecureRandom;
import java.util.concurrent.atomic.AtomicInteger;

/** The shared part of all connections of a verbs fabric. Any thread. */
final class VerbsPeers {
    private static final int SESSION_MESSAGES = 4;

    private final VerbsFabricConfig config;
    private final ClientSessions clientSessions;
    private final RequestHandler handler;
    private final FabricCounts counts = new FabricCounts();
    private final SecureRandom random = new SecureRandom();
    private final AtomicInteger unproven = new AtomicInteger();
    private final EndedSessions ended = new EndedSessions();
    private volatile boolean closing;

    VerbsPeers(VerbsFabricConfig config, ClientSessions clientSessions, RequestHandler handler) {
        this.config = config;
        this.clientSessions = clientSessions;
        this.handler = handler;
    }

    VerbsFabricConfig.Peers config() {
        return config.peers();
    }

    ClientSessions sessions() {
        return clientSessions;
    }

    RequestHandler handler() {
        return handler;
    }

    FabricCounts counts() {
        return counts;
    }

    SecureRandom random() {
        return random;
    }

    EndedSessions ended() {
        return ended;
    }

    boolean isClosing() {
        return closing;
    }

    void close() {
        closing = true;
    }

    /** Admits an unproven connection, unless there are too many of them. */
    boolean tryAdmit() {
        if (unproven.incrementAndGet() > config().maxUnproven()) {
            unproven.decrementAndGet();
            return false;
        }
        return true;
    }

    void leftUnproven() {
        unproven.decrementAndGet();
    }

    /**
     * Returns the most messages that a peer may have under way: requests, their cancellations, and
     * others.
     */
    int receives() {
        return 2 * config().maxRequests() + SESSION_MESSAGES;
    }

    /** Returns the number of buffers: receives, a spare one, and an answer for each request. */
    int buffers() {
        return receives() + 1 + config().maxRequests() + SESSION_MESSAGES;
    }
}
