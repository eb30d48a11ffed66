package io.railhead.rdma.loopback;

import static java.util.Objects.requireNonNull;

import io.railhead.client.loopback.LoopbackClient;
import io.railhead.os.Mapping;
import io.railhead.os.MemoryFile;
import io.railhead.protocol.message.Bytes32;
import io.railhead.rdma.FabricRig;
import io.railhead.rdma.FabricStats;
import io.railhead.rdma.TestBuffer;
import io.railhead.rdma.TestPeer;
import io.railhead.rdma.channel.RequestHandler;
import io.railhead.rdma.session.ClientSession;
import io.railhead.rdma.session.ClientSessions;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A loopback fabric with peers in this process. */
final class LoopbackRig implements FabricRig {
    static final byte[] KEY = "a session key of thirty-two byte".getBytes(
            StandardCharsets.US_ASCII);
    /** More bytes than any test registers. */
    static final long AMPLE = 1L << 40;
    static final Duration PATIENCE = Duration.ofSeconds(60);

    private final LoopbackConfig config;
    private final ClientSessions clientSessions;
    private final LoopbackFabric fabric;
    private final List<Mapping> mappings = new ArrayList<>();
    private final boolean attached;
    private final Arena memory = Arena.ofAuto();
    private final List<LoopbackClient> peers = new ArrayList<>();

    LoopbackRig(LoopbackConfig config, ClientSessions clientSessions) {
        this(config, clientSessions, RequestHandler.NONE);
    }

    LoopbackRig(LoopbackConfig config, ClientSessions clientSessions, RequestHandler requests) {
        this.config = config;
        this.clientSessions = clientSessions;
        this.fabric = new LoopbackFabric(config, clientSessions, requests);
        this.attached = config.crossMemory();
    }

    static LoopbackRig in(Path folder) {
        return new LoopbackRig(config(folder), freshSessions());
    }

    /** Whose peers register their own memory, unshared. */
    static LoopbackRig attachedIn(Path folder) {
        return new LoopbackRig(config(folder).withCrossMemory(), freshSessions());
    }

    static LoopbackConfig config(Path folder) {
        return new LoopbackConfig(folder.resolve("loopback.sock"), 2, 2, 64 << 10, PATIENCE, 16,
                1024, AMPLE, AMPLE, 64, PATIENCE);
    }

    static ClientSessions freshSessions() {
        return new ClientSessions(PATIENCE, 100, 100);
    }

    @Override
    public LoopbackFabric fabric() {
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

    Path socket() {
        return config.socket();
    }

    ClientSession open(String principal) {
        return requireNonNull(clientSessions.open(principal, "loopback", _ -> KEY));
    }

    LoopbackClient peer(String principal) throws IOException {
        LoopbackClient peer = LoopbackClient.connect(socket(), open(principal).id(), KEY, PATIENCE);
        peers.add(peer);
        return peer;
    }

    @Override
    public TestPeer connect(String principal) throws IOException {
        return new Peer(peer(principal));
    }

    @Override
    public void close() {
        fabric.close();
        peers.forEach(LoopbackClient::close);
        mappings.forEach(Mapping::close);
        mappings.clear();
    }

    private final class Peer implements TestPeer {
        private final LoopbackClient peer;
        private final List<Mapping> own = new ArrayList<>();

        Peer(LoopbackClient peer) {
            this.peer = peer;
        }

        @Override
        public int sessionNumber() {
            return peer.sessionNumber();
        }

        @Override
        public TestBuffer register(long bytes) throws IOException {
            if (attached) {
                MemorySegment own = memory.allocate(bytes);
                return new Buffer(peer, peer.attach(own, memory.allocate(Bytes32.SIZE)), own);
            }
            try (MemoryFile file = MemoryFile.create("test", bytes)) {
                Mapping mapping = file.map();
                mappings.add(mapping);
                own.add(mapping);
                long address = mapping.segment().address();
                return new Buffer(peer, peer.register(file, address), mapping.segment());
            }
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
            own.forEach(Mapping::close);
            mappings.removeAll(own);
            own.clear();
        }
    }

    private record Buffer(LoopbackClient peer, int key,
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
