package io.railhead.client;

import io.railhead.os.Mapping;
import io.railhead.os.MemoryFile;
import io.railhead.rdma.channel.Answer;
import io.railhead.rdma.channel.Request;
import io.railhead.rdma.loopback.LoopbackPeer;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A gateway on this host: memory is a sealed memfd, the connection a UNIX socket. */
enum LoopbackPeers implements Peers {
    INSTANCE;

    @Override
    public String fabric() {
        return "loopback";
    }

    @Override
    public Memory allocate(long bytes) {
        return new SharedMemory(bytes);
    }

    @Override
    public Peer connect(SessionGrant grant, byte[] sessionKey, Duration timeout)
            throws IOException {
        return new Connected(
                LoopbackPeer.connect(grant.socket(), grant.id(), sessionKey, timeout));
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

    private record Connected(LoopbackPeer peer) implements Peer {
        @Override
        public int sessionNumber() {
            return peer.sessionNumber();
        }

        @Override
        public int register(Memory memory) throws IOException {
            return peer.register(((SharedMemory) memory).file(), memory.segment().address());
        }

        @Override
        public void deregister(int key) throws IOException {
            peer.deregister(key);
        }

        @Override
        public List<CompletableFuture<Answer>> send(List<Request> requests) {
            return requests.stream()
                    .map(_ -> CompletableFuture.completedFuture(Answer.declined(0, "unsupported")))
                    .toList();
        }

        @Override
        public Answer call(Request request) {
            return send(List.of(request)).getFirst().join();
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
