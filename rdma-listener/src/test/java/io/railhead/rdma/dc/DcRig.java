package io.railhead.rdma.dc;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.os.adapter.GidBytes;
import io.railhead.os.devices.Gid;
import io.railhead.os.devices.GidRequest;
import io.railhead.os.devices.GidType;
import io.railhead.os.devices.RdmaDevice;
import io.railhead.os.devices.RdmaPort;
import io.railhead.os.verbs.FakeMlx5;
import io.railhead.os.verbs.FakePeer;
import io.railhead.rdma.FabricRig;
import io.railhead.rdma.FabricStats;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.TestBuffer;
import io.railhead.rdma.TestPeer;
import io.railhead.rdma.session.ClientSessions;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** A dc fabric on an adapter in memory, and peers whose targets that reaches. */
final class DcRig implements FabricRig {
    static final DcKey KEY = new DcKey(0x1234_5678_9abc_def0L);

    final FakeMlx5 adapter;
    private final ClientSessions clientSessions = new ClientSessions(Duration.ofSeconds(60), 100,
            100);
    private final DcFabric fabric;
    private final Arena memory = Arena.ofShared();
    private final Map<Integer, FakePeer> peers = new ConcurrentHashMap<>();
    private boolean isClosed;

    private DcRig(FakeMlx5 adapter, DcFabricConfig config) throws IOException {
        this.adapter = adapter;
        fabric = new DcFabric(config, adapter.verbs(), adapter, DcRig::devices, clientSessions);
    }

    static DcRig start() throws IOException {
        return start(config());
    }

    static DcRig start(DcFabricConfig config) throws IOException {
        FakeMlx5 adapter = FakeMlx5.open();
        try {
            return new DcRig(adapter, config);
        } catch (IOException | RuntimeException e) {
            adapter.close();
            throw e;
        }
    }

    static DcFabricConfig config() {
        return DcFabricConfig.on(FakeMlx5.DEVICE, 1, GidRequest.of(GidType.ROCE_V2)).with(KEY);
    }

    static List<RdmaDevice> devices() {
        Gid gid = new Gid(0, InetAddress.ofLiteral("10.0.0.1"), GidType.ROCE_V2,
                Optional.of(new Gid.NetworkInterface("eth0", 4200)));
        return List.of(new RdmaDevice(FakeMlx5.DEVICE, "CA", 0,
                List.of(new RdmaPort(1, "ACTIVE", "Ethernet", "100 Gb/sec", List.of(gid)))));
    }

    @Override
    public DcFabric fabric() {
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

    FakePeer fake(TestPeer peer) {
        return requireNonNull(peers.get(peer.sessionNumber()));
    }

    /** Its target. */
    DcClient target(String principal, int number) {
        InetAddress gid = GidBytes.read(
                HexFormat.of().parseHex(requireNonNull(peers.get(number)).gid()));
        return new DcClient(principal, "tenant of " + principal, gid, 0, number);
    }

    @Override
    public RemoteBuffer resolve(String principal, int session, long address, long length,
            int key) {
        return new RemoteBuffer(target(principal, session), address, length, key);
    }

    @Override
    public TestPeer connect(String principal) {
        FakePeer peer = adapter.peer(KEY.value());
        peers.put(peer.number(), peer);
        return new Peer(peer);
    }

    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        fabric.close();
        assertThat(adapter.initiators()).as("initiators").isZero();
        assertThat(adapter.addressHandles()).as("address handles").isZero();
        assertThat(adapter.registrations()).as("registrations").isZero();
        assertThat(adapter.objects()).as("objects").isZero();
        adapter.close();
    }

    private final class Peer implements TestPeer {
        private final FakePeer peer;

        Peer(FakePeer peer) {
            this.peer = peer;
        }

        @Override
        public int sessionNumber() {
            return peer.number();
        }

        @Override
        public TestBuffer register(long bytes) {
            MemorySegment own = memory.allocate(bytes, 4096);
            return new Buffer(peer, peer.register(own), own);
        }

        @Override
        public void die() {
            peer.die();
        }

        @Override
        public boolean heardEnd() {
            return false;
        }

        @Override
        public void close() {
            peer.die();
        }
    }

    private record Buffer(FakePeer peer, int key, MemorySegment memory) implements TestBuffer {

        @Override
        public long address() {
            return memory.address();
        }

        @Override
        public void deregister() {
            peer.deregister(key);
        }
    }
}
