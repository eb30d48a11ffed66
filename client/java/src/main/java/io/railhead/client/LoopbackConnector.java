package io.railhead.client;

import io.railhead.client.loopback.LoopbackClient;
import io.railhead.os.Mapping;
import io.railhead.os.MemoryFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.URI;
import java.time.Duration;

/**
 * The connector to a gateway on this host: memory is a sealed memfd, the connection a UNIX socket.
 */
enum LoopbackConnector implements FabricConnector {
    INSTANCE;

    @Override
    public String fabric() {
        return "loopback";
    }

    /** Checks nothing: whether this is the gateway's host shows only at its socket. */
    @Override
    public void requireUsable() {}

    /** A gateway of another host may have a socket of the same path. */
    @Override
    public boolean reaches(URI gateway) {
        try {
            InetAddress address = InetAddress.getByName(gateway.getHost());
            return address.isLoopbackAddress()
                    || NetworkInterface.getByInetAddress(address) != null;
        } catch (IOException _) {
            return false;
        }
    }

    @Override
    public Memory allocate(long bytes) {
        return new SharedMemory(bytes);
    }

    @Override
    public Peer connect(SessionGrant grant, byte[] sessionKey, Duration timeout)
            throws IOException {
        LoopbackClient peer = LoopbackClient.connect(grant.socket(), grant.id(), sessionKey,
                timeout);
        return new ChannelPeer(peer.channel(), peer.sessionNumber(), new Connected(peer));
    }

    /** A memfd and this process's mapping of it. */
    static final class SharedMemory implements Memory {
        private final MemoryFile file;
        private final Mapping mapping;

        SharedMemory(long bytes) {
            file = MemoryFile.create("railhead-client", bytes);
            Mapping mapped = null;
            try {
                mapped = file.map();
            } finally {
                if (mapped == null) {
                    file.close();
                }
            }
            mapping = mapped;
        }

        MemoryFile file() {
            return file;
        }

        @Override
        public MemorySegment segment() {
            return mapping.segment();
        }

        @Override
        public void close() {
            file.close();
            mapping.close();
        }
    }

    private record Connected(LoopbackClient peer) implements ChannelPeer.Registrations {
        @Override
        public int register(Memory memory) throws IOException {
            return peer.register(((SharedMemory) memory).file(), memory.segment().address());
        }

        @Override
        public void deregister(int key) throws IOException {
            peer.deregister(key);
        }

        @Override
        public boolean hasLetGo() {
            return peer.channel().hasLetGo();
        }

        @Override
        public void close() {
            peer.close();
        }
    }
}
