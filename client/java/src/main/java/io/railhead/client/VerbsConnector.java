package io.railhead.client;

import io.railhead.client.verbs.VerbsClient;
import io.railhead.client.verbs.VerbsClientConfig;
import io.railhead.os.Mapping;
import io.railhead.os.devices.RdmaDevices;
import io.railhead.os.verbs.VerbsProvider;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;

/** The connector to a gateway over RDMA: the adapter pins the memory. */
enum VerbsConnector implements FabricConnector {
    INSTANCE;

    @Override
    public String fabric() {
        return "verbs";
    }

    @Override
    public void requireUsable() throws IOException {
        if (RdmaDevices.read().isEmpty()) {
            throw new IOException("this host has no RDMA device");
        }
        var _ = VerbsProvider.install();
    }

    @Override
    public boolean reaches(URI gateway) {
        return true;
    }

    @Override
    public Memory allocate(long bytes) {
        return new PinnedMemory(Mapping.anonymous(bytes));
    }

    /** Connects to the first reachable address of the gateway. */
    @Override
    public Peer connect(SessionGrant grant, byte[] sessionKey, Duration timeout)
            throws IOException {
        VerbsClientConfig config = configOf(grant, timeout);
        IOException unreached = null;
        for (String address : grant.addresses()) {
            try {
                VerbsClient peer = VerbsClient.connect(config,
                        new InetSocketAddress(address, grant.port()), grant.id(), sessionKey);
                return new ChannelPeer(peer.channel(), peer.sessionNumber(),
                        new Connected(peer));
            } catch (IOException e) {
                if (unreached == null) {
                    unreached = new IOException(
                            "cannot connect to " + address + ": " + e.getMessage(), e);
                } else {
                    unreached.addSuppressed(e);
                }
            }
        }
        throw unreached == null
                ? new PermanentException("the gateway names no address of an adapter")
                : unreached;
    }

    private static VerbsClientConfig configOf(SessionGrant grant, Duration timeout)
            throws IOException {
        try {
            return VerbsClientConfig.of(grant.maxRequests(), timeout)
                    .withMaxPathMtu(grant.maxPathMtu());
        } catch (IllegalArgumentException e) {
            throw new PermanentException("the gateway's path_mtu is none: " + e.getMessage());
        }
    }

    private record PinnedMemory(Mapping mapping) implements Memory {
        @Override
        public MemorySegment segment() {
            return mapping.segment();
        }

        @Override
        public void close() {
            mapping.close();
        }
    }

    private record Connected(VerbsClient peer) implements ChannelPeer.Registrations {
        @Override
        public int register(Memory memory) throws IOException {
            return peer.register(memory.segment());
        }

        @Override
        public void deregister(int key) throws IOException {
            peer.deregister(key);
        }

        /** Returns true: a queue pair that has ended accepts no write. */
        @Override
        public boolean hasLetGo() {
            return true;
        }

        @Override
        public void close() {
            peer.close();
        }
    }
}
