package io.railhead.rdma.loopback;

import io.railhead.cache.memory.Slab;
import io.railhead.rdma.Fabric;
import io.railhead.rdma.Health;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.session.Sessions;

/** One-sided delivery by shared memory. */
public final class LoopbackFabric implements Fabric {
    /** The GID that a loopback token carries: 127.0.0.1, IPv4-mapped. */
    public static final String GID = "00000000000000000000ffff7f000001";

    public LoopbackFabric(LoopbackConfig config, Sessions sessions) {
        throw new UnsupportedOperationException();
    }

    @Override
    public String name() {
        return "loopback";
    }

    @Override
    public Health health() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void register(Slab slab) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Transfer begin(RemoteBuffer buffer) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {
        throw new UnsupportedOperationException();
    }
}
