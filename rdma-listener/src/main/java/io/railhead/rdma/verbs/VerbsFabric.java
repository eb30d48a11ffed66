package io.railhead.rdma.verbs;

import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import io.railhead.cache.memory.Slab;
import io.railhead.os.adapter.Adapter;
import io.railhead.os.adapter.CloseStack;
import io.railhead.os.adapter.CmLoop;
import io.railhead.os.devices.RdmaDevices;
import io.railhead.os.verbs.VerbsExtensions;
import io.railhead.os.verbs.VerbsProvider;
import io.railhead.os.verbs.VerbsUnavailableException;
import io.railhead.rdma.AllSteps;
import io.railhead.rdma.Fabric;
import io.railhead.rdma.FabricStats;
import io.railhead.rdma.Health;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.TransferException.Reason;
import io.railhead.rdma.channel.RequestHandler;
import io.railhead.rdma.pairing.Pairing;
import io.railhead.rdma.poller.Poller;
import io.railhead.rdma.poller.PortBudgets;
import io.railhead.rdma.session.ClientSessions;
import io.railhead.rdma.session.PeerSession;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;

/**
 * One-sided delivery over reliable-connection queue pairs: InfiniBand, RoCE and soft-RoCE. Each
 * session has its own queue pair, the only one that uses the session's {@code RemoteBuffer}s.
 *
 * <p> Threads: {@code verbs-control} makes and ends connections and reads the devices' events; a
 * poller ({@code verbs-poller-…}) is the single writer of its queue pairs. Bytes leave straight
 * from the slabs, to which no peer has a right.
 */
public final class VerbsFabric implements Fabric {
    /** The name of this fabric. */
    public static final String NAME = "verbs";
    private static final int BACKLOG = 128;

    private final VerbsPeers peers;
    private final VerbsFabricConfig config;
    private final Map<String, Adapter> adapters = new LinkedHashMap<>();
    private final Map<String, List<PollerGroup>> rails = new LinkedHashMap<>();
    /** By device and port. */
    private final Map<String, PortBudgets> budgets = new HashMap<>();
    private final List<Port> ports = new ArrayList<>();
    private final VerbsListener listener;
    private final PairedQueues pairs;
    private final CmLoop control;
    private final AtomicBoolean closed = new AtomicBoolean();

    /**
     * Opens the devices and starts listening.
     *
     * @param requests handles the requests on peers' channels
     * @throws VerbsUnavailableException if this machine has no verbs, or none at an address
     * @throws IOException if the library failed
     */
    public VerbsFabric(VerbsFabricConfig config, ClientSessions clientSessions,
            RequestHandler requests)
            throws IOException {
        this.config = config;
        this.peers = new VerbsPeers(config, clientSessions, requests);
        VerbsExtensions verbs = VerbsProvider.install();
        CloseStack closeStack = new CloseStack();
        try {
            RdmaEventChannel channel = RdmaEventChannel.createEventChannel();
            closeStack.add(channel::destroyEventChannel);
            for (InetSocketAddress address : config.listen()) {
                ports.add(listen(verbs, channel, address, closeStack));
            }
            listener = new VerbsListener(verbs, peers, config, ports);
            pairs = new PairedQueues(verbs, peers, config, ports,
                    new PortGids(config.gids(), RdmaDevices::read));
            control = new CmLoop("verbs-control", channel, listener, asyncDescriptors(verbs));
        } catch (IOException | RuntimeException | Error e) {
            closeStack.run(e);
            throw e;
        }
        listener.runsOn(control);
        pairs.runsOn(control);
        rails.values().forEach(some -> some.forEach(PollerGroup::start));
        control.start();
    }

    private Port listen(VerbsExtensions verbs, RdmaEventChannel channel,
            InetSocketAddress address, CloseStack closeStack) throws IOException {
        RdmaCmId id = channel.createId(CmLoop.TCP_PORTS);
        closeStack.add(id::destroyId);
        verbs.setReuseAddress(id);
        if (config.queuePairs().trafficClass().isPresent()) {
            verbs.setTypeOfService(id, config.queuePairs().trafficClass().getAsInt());
        }
        id.bindAddr(address);
        if (id.getVerbs() == null) {
            throw new IOException("no RDMA device has the address " + address);
        }
        String device = verbs.deviceName(id.getVerbs());
        Adapter adapter = adapters.get(device);
        if (adapter == null) {
            adapter = Adapter.open(verbs, device);
            closeStack.add(adapter::close);
            adapters.put(device, adapter);
            rails.put(device, openRails(adapter, closeStack));
        }
        id.listen(BACKLOG);
        List<PollerGroup> serving = rails.getOrDefault(device, List.of());
        PortBudgets outstanding = budgets.computeIfAbsent(device + " " + id.getPort_num(),
                _ -> new PortBudgets(config.outstanding().perPrincipal(),
                        config.outstanding().perPort(), rail -> serving.get(rail).tryAgain()));
        return new Port((InetSocketAddress) id.getSource(), id, adapter, serving, outstanding);
    }

    private List<PollerGroup> openRails(Adapter adapter, CloseStack closeStack) throws IOException {
        List<PollerGroup> opened = new ArrayList<>();
        for (int i = 0; i < config.polling().pollers(); i++) {
            PollerGroup pollerGroup = new PollerGroup(i, adapter, config.queuePairs(),
                    config.polling(),
                    config.outstanding(), peers.counts().idleSpinNanos()::add);
            closeStack.add(pollerGroup::close);
            opened.add(pollerGroup);
        }
        return opened;
    }

    private int[] asyncDescriptors(VerbsExtensions verbs) {
        return adapters.values()
                .stream()
                .mapToInt(adapter -> verbs.asyncDescriptor(adapter.context()))
                .toArray();
    }

    @Override
    public String name() {
        return NAME;
    }

    /** Returns the listening addresses with their actual ports. */
    public List<InetSocketAddress> addresses() {
        return ports.stream().map(Port::address).toList();
    }

    /** Returns usable while any port is. */
    @Override
    public Health health() {
        if (closed.get()) {
            return Health.down("closed");
        }
        Health down = Health.USABLE;
        for (Port port : ports) {
            down = port.health();
            if (down.usable()) {
                return down;
            }
        }
        return down;
    }

    /** Registers the slab, which pins it: slow. */
    @Override
    public void register(Slab slab) {
        for (Adapter adapter : adapters.values()) {
            try {
                adapter.registerSlab(slab.segment());
            } catch (IOException e) {
                throw new UncheckedIOException("slab " + slab.id() + " on " + adapter.device(), e);
            }
        }
    }

    @Override
    public Transfer begin(RemoteBuffer buffer) {
        try {
            Transfer transfer = open(buffer);
            peers.counts().began();
            return transfer;
        } catch (TransferException e) {
            peers.counts().refused(e.reason());
            throw e;
        }
    }

    private Transfer open(RemoteBuffer buffer) {
        PairedQueue paired = pairs.find(buffer.session());
        TransferQueue transferQueue;
        Transfer transfer;
        PeerSession session = requireOpen(buffer);
        if (paired == null) {
            VerbsRegion region = requireRegion(buffer, session);
            transferQueue = region.transferQueue();
            transfer = new VerbsTransfer(peers.counts(), buffer, region);
        } else {
            transferQueue = paired;
            transfer = paired.begin(buffer);
        }
        Health port = transferQueue.port().health();
        if (!port.usable()) {
            throw new TransferException(Reason.UNAVAILABLE, port.reason());
        }
        return transfer;
    }

    private PeerSession requireOpen(RemoteBuffer buffer) {
        if (peers.isClosing()) {
            throw new TransferException(Reason.UNAVAILABLE, "the fabric is closing");
        }
        if (!(buffer.session() instanceof PeerSession session) || !session.isOpen()) {
            throw new TransferException(Reason.UNKNOWN_SESSION,
                    "no session " + buffer.session().number());
        }
        return session;
    }

    private static VerbsRegion requireRegion(RemoteBuffer buffer, PeerSession session) {
        if (!(session.findRegion(buffer.key()) instanceof VerbsRegion region)) {
            throw new TransferException(Reason.UNKNOWN_KEY,
                    "session " + session.number() + " has no such buffer");
        }
        if (!region.contains(buffer.address(), buffer.length())) {
            throw new TransferException(Reason.OUT_OF_BOUNDS, "window of " + buffer.length()
                    + " bytes does not lie within the buffer of " + region.length());
        }
        return region;
    }

    @Override
    public boolean hasLostDevice() {
        return ports.stream().anyMatch(Port::isDeviceLost);
    }

    @Override
    public Optional<Pairing> pairing() {
        return closed.get() ? Optional.empty() : Optional.of(pairs);
    }

    @Override
    public FabricStats stats() {
        return peers.counts()
                .snapshot(rails.values()
                        .stream()
                        .flatMap(List::stream)
                        .map(PollerGroup::poller)
                        .collect(Collectors.toMap(Poller::name, Poller::cpuNanos)));
    }

    /** Blocks until no byte moves and all threads have ended; not from a fabric thread. */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        peers.close();
        CompletableFuture<Void> listenerClosed = new CompletableFuture<>();
        control.execute(() -> {
            var _ = CompletableFuture.allOf(listener.close(), pairs.close())
                    .thenRun(() -> listenerClosed.complete(null));
        });
        listenerClosed.join();
        CompletableFuture<Void> idsClosed = new CompletableFuture<>();
        control.execute(() -> {
            listener.closeListeners();
            idsClosed.complete(null);
        });
        idsClosed.join();
        List<Runnable> steps = new ArrayList<>();
        rails.values().forEach(some -> some.forEach(pollerGroup -> steps.add(pollerGroup::close)));
        steps.add(control::close);
        adapters.values().forEach(adapter -> steps.add(adapter::close));
        // A failure on a removed device must not stop the other steps.
        AllSteps.run(steps);
    }
}
