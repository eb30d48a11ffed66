package io.railhead.rdma.dc;

import io.railhead.cache.memory.Slab;
import io.railhead.os.adapter.Adapter;
import io.railhead.os.adapter.CloseStack;
import io.railhead.os.devices.RdmaDevice;
import io.railhead.os.devices.RdmaDevices;
import io.railhead.os.verbs.Mlx5;
import io.railhead.os.verbs.VerbsExtensions;
import io.railhead.rdma.Fabric;
import io.railhead.rdma.FabricCounts;
import io.railhead.rdma.FabricStats;
import io.railhead.rdma.Health;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.TransferException.Reason;
import io.railhead.rdma.session.ClientSession;
import io.railhead.rdma.session.ClientSessions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One-sided delivery over dynamically connected queue pairs of an mlx5 adapter. No client connects:
 * the token alone says where bytes go. Each tenant has its own initiators. Each initiator carries
 * one request at a time, so that a reset stops that request and no other.
 *
 * <p> Threads: {@code dc-control} watches the port, and creates, resets and destroys initiators;
 * {@code dc-resolver-…} create address handles; only the poller ({@code dc-poller-…}) posts.
 */
public final class DcFabric implements Fabric {
    /** The name of this fabric. */
    public static final String NAME = "dc";
    private static final Logger log = LoggerFactory.getLogger(DcFabric.class);
    private static final int LOOK_MILLIS = 250;
    private static final int RESOLVERS = 4;

    private final FabricCounts counts = new FabricCounts();
    private final Adapter adapter;
    private final DcPort port;
    private final ScheduledExecutorService control;
    private final ExecutorService resolvers;
    private final DcPollerGroup rail;
    private final AtomicBoolean closed = new AtomicBoolean();

    /**
     * Opens the device.
     *
     * @param clientSessions learn of principals that named memory which they may not use
     * @param devices returns the current devices: reads sysfs
     * @throws IOException if the device is not an mlx5 one, or the library failed
     */
    public DcFabric(DcFabricConfig config, VerbsExtensions verbs, Mlx5 mlx5,
            Supplier<List<RdmaDevice>> devices, ClientSessions clientSessions) throws IOException {
        CloseStack closeStack = new CloseStack();
        try {
            adapter = Adapter.open(verbs, config.device());
            closeStack.add(adapter::close);
            if (!mlx5.supports(adapter.context())) {
                throw new IOException(config.device()
                        + " is no mlx5 device: DC is a transport of NVIDIA's ConnectX adapters");
            }
            port = new DcPort(adapter, config);
            control = Executors.newSingleThreadScheduledExecutor(
                    Thread.ofPlatform().name("dc-control").daemon().factory());
            closeStack.add(control::shutdown);
            resolvers = Executors.newFixedThreadPool(RESOLVERS,
                    Thread.ofPlatform().name("dc-resolver-", 0).daemon().factory());
            closeStack.add(resolvers::shutdown);
            rail = new DcPollerGroup(new DcDevice(adapter, mlx5, config, port,
                    new SourceGids(config, devices)), control, resolvers, clientSessions, counts);
        } catch (IOException | RuntimeException | Error e) {
            closeStack.run(e);
            throw e;
        }
        rail.start();
        var _ = control.scheduleWithFixedDelay(this::look, LOOK_MILLIS, LOOK_MILLIS,
                TimeUnit.MILLISECONDS);
        log.info("dc: on {} port {}, MTU {}, traffic class {}", config.device(), config.port(),
                port.mtu(), config.sending().trafficClass());
    }

    /** Opens the fabric with the machine's own devices and libraries. */
    public static DcFabric open(DcFabricConfig config, VerbsExtensions verbs,
            ClientSessions clientSessions)
            throws IOException {
        return new DcFabric(config, verbs, Mlx5.load(), RdmaDevices::read, clientSessions);
    }

    private void look() {
        try {
            port.look();
        } catch (RuntimeException | Error e) {
            // An exception would cancel the periodic task.
            log.error("dc-control", e);
        }
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public Health health() {
        return closed.get() ? Health.down("closed") : port.health();
    }

    @Override
    public boolean hasLostDevice() {
        return port.isDeviceLost();
    }

    /**
     * Returns down also while so many of the tenant's requests wait that one more would not be
     * served.
     */
    @Override
    public Health health(ClientSession clientSession) {
        Health health = health();
        if (!health.usable() || !(clientSession instanceof DcClient peer)) {
            return health;
        }
        TenantPool pool = rail.initiators().findPool(peer.tenant());
        return pool != null && pool.isCrowded()
                ? Health.down("all initiators of tenant " + peer.tenant() + " are in use")
                : health;
    }

    /** Registers the slab, which pins it: slow. */
    @Override
    public void register(Slab slab) {
        try {
            adapter.registerSlab(slab.segment());
        } catch (IOException e) {
            throw new UncheckedIOException("slab " + slab.id() + " on " + adapter.device(), e);
        }
    }

    @Override
    public Transfer begin(RemoteBuffer buffer) {
        try {
            Transfer transfer = open(buffer);
            counts.began();
            return transfer;
        } catch (TransferException e) {
            counts.refused(e.reason());
            throw e;
        }
    }

    private Transfer open(RemoteBuffer buffer) {
        if (!(buffer.session() instanceof DcClient peer)) {
            throw new TransferException(Reason.UNKNOWN_SESSION,
                    "session " + buffer.session().number() + " is no target's");
        }
        if (buffer.length() < 1 || Long.compareUnsigned(
                buffer.address() + buffer.length() - 1, buffer.address()) < 0) {
            throw new TransferException(Reason.OUT_OF_BOUNDS, "a window of "
                    + Long.toUnsignedString(buffer.length()) + " bytes at "
                    + Long.toHexString(buffer.address()) + " cannot be");
        }
        Health health = health();
        if (!health.usable()) {
            throw new TransferException(Reason.UNAVAILABLE, health.reason());
        }
        return new DcTransfer(rail, peer, buffer);
    }

    @Override
    public FabricStats stats() {
        return counts.snapshot(Map.of(rail.poller().name(), rail.poller().cpuNanos()));
    }

    /** Blocks until no byte moves and all threads have ended; not from a fabric thread. */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        rail.end().join();
        resolvers.close();
        control.close();
        rail.close();
        adapter.close();
    }
}
