package io.railhead.rdma.verbs;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.Objects.requireNonNull;

import io.railhead.client.verbs.VerbsClient;
import io.railhead.client.verbs.VerbsClientConfig;
import io.railhead.os.adapter.QueuePairConfig;
import io.railhead.rdma.FabricRig;
import io.railhead.rdma.FabricStats;
import io.railhead.rdma.TestBuffer;
import io.railhead.rdma.TestPeer;
import io.railhead.rdma.channel.RequestHandler;
import io.railhead.rdma.session.ClientSession;
import io.railhead.rdma.session.ClientSessions;
import io.railhead.rdma.verbs.VerbsFabricConfig.Peers;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A verbs fabric on one device and peers of this process on another. */
final class VerbsRig implements FabricRig {
    static final byte[] KEY = "a session key of thirty-two byte".getBytes(US_ASCII);
    static final Duration PATIENCE = Duration.ofSeconds(60);
    static final InetAddress GATEWAY = address("RAILHEAD_VERBS_GATEWAY", "10.99.0.1");
    static final InetAddress PEER = address("RAILHEAD_VERBS_PEER", "10.99.0.2");

    private final VerbsFabricConfig config;
    private final ClientSessions clientSessions;
    private final VerbsFabric fabric;
    private final Arena memory = Arena.ofShared();
    private final List<VerbsClient> peers = new ArrayList<>();

    VerbsRig(VerbsFabricConfig config, ClientSessions clientSessions, RequestHandler handler)
            throws IOException {
        this.config = config;
        this.clientSessions = clientSessions;
        this.fabric = new VerbsFabric(config, clientSessions, handler);
    }

    static VerbsRig start() throws IOException {
        return new VerbsRig(config(), freshSessions(), RequestHandler.NONE);
    }

    static VerbsFabricConfig config() {
        return VerbsFabricConfig.at(new InetSocketAddress(GATEWAY, 0))
                .with(peers(PATIENCE, PATIENCE));
    }

    static Peers peers(Duration proofTimeout, Duration keepAlive) {
        return new Peers(proofTimeout, 16, 1024, 8, keepAlive, Duration.ofMillis(500));
    }

    static ClientSessions freshSessions() {
        // Long, since a process that a test starts may take its time.
        return new ClientSessions(PATIENCE.multipliedBy(10), 100, 100);
    }

    private static InetAddress address(String variable, String otherwise) {
        String chosen = System.getenv(variable);
        try {
            return InetAddress.getByName(chosen == null ? otherwise : chosen);
        } catch (UnknownHostException e) {
            throw new AssertionError(variable + " must be an address", e);
        }
    }

    @Override
    public VerbsFabric fabric() {
        return fabric;
    }

    @Override
    public ClientSessions sessions() {
        return clientSessions;
    }

    @Override
    public FabricStats stats() {
        return fabric.stats();
    }

    InetSocketAddress gateway() {
        return fabric.addresses().getFirst();
    }

    ClientSession open(String principal) {
        return requireNonNull(clientSessions.open(principal, "verbs", _ -> KEY));
    }

    VerbsClientConfig peerConfig() {
        return VerbsClientConfig.of(config.peers().maxRequests(), PATIENCE).from(PEER);
    }

    VerbsClient peer(String principal) throws IOException {
        return peer(principal, QueuePairConfig.DEFAULT);
    }

    VerbsClient peer(String principal, QueuePairConfig queuePairs) throws IOException {
        VerbsClientConfig peers = peerConfig();
        VerbsClient peer = VerbsClient.connect(new VerbsClientConfig(peers.source(), queuePairs,
                peers.maxRequests(), peers.timeout()), gateway(), open(principal).id(), KEY);
        this.peers.add(peer);
        return peer;
    }

    @Override
    public TestPeer connect(String principal) throws IOException {
        return new Peer(peer(principal));
    }

    MemorySegment allocate(long bytes) {
        return memory.allocate(bytes, 4096);
    }

    @Override
    public void close() {
        fabric.close();
        peers.forEach(VerbsClient::close);
        peers.clear();
        if (memory.scope().isAlive()) {
            memory.close();
        }
    }

    private final class Peer implements TestPeer {
        private final VerbsClient peer;

        Peer(VerbsClient peer) {
            this.peer = peer;
        }

        @Override
        public int sessionNumber() {
            return peer.sessionNumber();
        }

        @Override
        public TestBuffer register(long bytes) throws IOException {
            MemorySegment own = allocate(bytes);
            return new Buffer(peer, peer.register(own), own);
        }

        @Override
        public void die() {
            peer.drop();
        }

        @Override
        public boolean heardEnd() {
            return !peer.isOpen();
        }

        @Override
        public void close() {
            peer.close();
            peers.remove(peer);
        }
    }

    private record Buffer(VerbsClient peer, int key,
            MemorySegment memory) implements TestBuffer {

        @Override
        public long address() {
            return memory.address();
        }

        @Override
        public void deregister() throws IOException {
            peer.deregister(key);
        }
    }
}
