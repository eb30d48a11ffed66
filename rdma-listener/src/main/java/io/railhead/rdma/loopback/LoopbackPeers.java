package io.railhead.rdma.loopback;

import io.railhead.rdma.FabricCounts;
import io.railhead.rdma.channel.RequestHandler;
import io.railhead.rdma.session.ClientSessions;
import java.security.SecureRandom;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * All connections of a loopback fabric, and their shared state. Any thread.
 *
 * <p> Every process on the host may connect, so only few connections may be unproven at a time,
 * each for a short time.
 */
final class LoopbackPeers {
    private final LoopbackConfig config;
    private final ClientSessions clientSessions;
    private final CopyEngine engine;
    private final RegisteredBytes registeredBytes;
    private final RequestHandler requests;
    private final SecureRandom random = new SecureRandom();
    private final Set<LoopbackConnection> connections = ConcurrentHashMap.newKeySet();
    private final AtomicInteger unproven = new AtomicInteger();

    LoopbackPeers(LoopbackConfig config, ClientSessions clientSessions, CopyEngine engine,
            RequestHandler requests) {
        this.config = config;
        this.clientSessions = clientSessions;
        this.engine = engine;
        this.registeredBytes = new RegisteredBytes(config.maxBytesPerSession(),
                config.maxBytesPerPrincipal(), engine.counts());
        this.requests = requests;
    }

    RequestHandler requests() {
        return requests;
    }

    LoopbackConfig config() {
        return config;
    }

    ClientSessions sessions() {
        return clientSessions;
    }

    CopyEngine engine() {
        return engine;
    }

    FabricCounts counts() {
        return engine.counts();
    }

    RegisteredBytes registeredBytes() {
        return registeredBytes;
    }

    SecureRandom random() {
        return random;
    }

    Executor unmapper() {
        return engine.workers();
    }

    /** Admits an unproven connection, unless there are too many of them. */
    boolean tryAdmit(LoopbackConnection connection) {
        connections.add(connection);
        if (unproven.incrementAndGet() > config.maxUnproven()) {
            unproven.decrementAndGet();
            return false;
        }
        return true;
    }

    void proved() {
        unproven.decrementAndGet();
        counts().sessionOpened();
    }

    void leftUnproven() {
        unproven.decrementAndGet();
    }

    void gone(LoopbackConnection connection) {
        connections.remove(connection);
    }

    List<LoopbackConnection> connections() {
        return List.copyOf(connections);
    }
}
