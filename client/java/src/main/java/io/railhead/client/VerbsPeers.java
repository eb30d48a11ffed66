package io.railhead.client;

import io.railhead.os.Mapping;
import io.railhead.os.devices.RdmaDevices;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;

/** A gateway that is reached by RDMA: memory is pinned by the adapter. */
enum VerbsPeers implements Peers {
    INSTANCE;

    @Override
    public String fabric() {
        return "verbs";
    }

    @Override
    public void requireUsable() throws IOException {
        if (RdmaDevices.read().isEmpty()) {
            throw new IOException("this host has no RDMA adapter that the kernel serves");
        }
    }

    @Override
    public Memory allocate(long bytes) {
        return new PinnedMemory(Mapping.anonymous(bytes));
    }

    @Override
    public Peer connect(SessionGrant grant, byte[] sessionKey, Duration timeout)
            throws IOException {
        throw new IOException("this client cannot connect to " + grant.addresses() + ":"
                + grant.port() + " by RDMA yet");
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
}
