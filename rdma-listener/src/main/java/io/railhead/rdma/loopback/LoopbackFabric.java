package io.railhead.rdma.loopback;

import io.netty.channel.epoll.Epoll;
import io.railhead.cache.memory.Slab;
import io.railhead.protocol.token.Token;
import io.railhead.rdma.Fabric;
import io.railhead.rdma.FabricCounts;
import io.railhead.rdma.FabricStats;
import io.railhead.rdma.Health;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.channel.RequestHandler;
import io.railhead.rdma.session.ClientSessions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One-sided delivery by shared memory. Peers on this host pass sealed memfds over a UNIX socket,
 * and a transfer is a copy into or out of them.
 *
 * <p> Threads: {@code fabric-loopback} serves the socket. Small slices are copied on the caller's
 * thread, larger ones by {@code loopback-copy} workers, which also unmap. All copies to and from
 * bounce buffers and private memory run on {@code loopback-blocking} workers. A peer's memory stays
 * mapped until it is deregistered or its session has ended, <em>and</em> no copy runs in it.
 */
public final class LoopbackFabric implements Fabric {
    /** The name of this fabric. */
    public static final String NAME = "loopback";
    /** The GID that a loopback token carries: 127.0.0.1, IPv4-mapped. */
    public static final String GID = Token.LOOPBACK_GID;

    private final FabricCounts counts = new FabricCounts();
    private final CopyEngine engine;
    private final LoopbackListener listener;
    private final AtomicBoolean closed = new AtomicBoolean();

    /**
     * Starts listening; throws if the socket is not available.
     *
     * @param requests handles the requests on peers' channels
     */
    public LoopbackFabric(LoopbackConfig config, ClientSessions clientSessions,
            RequestHandler requests) {
        if (!Epoll.isAvailable()) {
            throw new IllegalStateException("loopback needs Linux epoll",
                    Epoll.unavailabilityCause());
        }
        engine = new CopyEngine(config, counts);
        try {
            listener = new LoopbackListener(config,
                    new LoopbackPeers(config, clientSessions, engine, requests));
        } catch (IOException e) {
            engine.close();
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public Health health() {
        if (closed.get()) {
            return Health.down("closed");
        }
        return listener.isListening() ? Health.USABLE : Health.down("the socket is closed");
    }

    /** Does nothing: a copy by the processor needs no registration. */
    @Override
    public void register(Slab slab) {}

    @Override
    public Transfer begin(RemoteBuffer buffer) {
        try {
            Transfer transfer = new LoopbackTransfer(engine, buffer,
                    engine.requireRegion(buffer));
            counts.began();
            return transfer;
        } catch (TransferException e) {
            counts.refused(e.reason());
            throw e;
        }
    }

    CopyEngine engine() {
        return engine;
    }

    @Override
    public FabricStats stats() {
        return counts.snapshot();
    }

    /** Blocks until no byte moves and all threads have ended; not from a fabric thread. */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        engine.stop();
        listener.drain();
        engine.close();
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
