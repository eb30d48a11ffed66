package io.railhead.client;

import io.railhead.os.MemoryFile;
import io.railhead.rdma.loopback.LoopbackPeer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

/** The real sockets. */
enum LoopbackPeers implements Peers {
    INSTANCE;

    @Override
    public Peer connect(Path socket, String sessionId, byte[] sessionKey, Duration timeout)
            throws IOException {
        return new Connected(LoopbackPeer.connect(socket, sessionId, sessionKey, timeout));
    }

    private record Connected(LoopbackPeer peer) implements Peer {
        @Override
        public int sessionNumber() {
            return peer.sessionNumber();
        }

        @Override
        public int register(MemoryFile file, long baseAddress) throws IOException {
            return peer.register(file, baseAddress);
        }

        @Override
        public boolean isOpen() {
            return peer.isOpen();
        }

        @Override
        public void close() {
            peer.close();
        }
    }
}
