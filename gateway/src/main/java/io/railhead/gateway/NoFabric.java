package io.railhead.gateway;

import io.railhead.cache.memory.Slab;
import io.railhead.rdma.Fabric;
import io.railhead.rdma.Health;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.TransferException;

/** One-sided delivery switched off: every token is declined. */
final class NoFabric implements Fabric {

    @Override
    public String name() {
        return "none";
    }

    @Override
    public Health health() {
        return Health.down("rdma is switched off");
    }

    @Override
    public void register(Slab slab) {
        // Nothing will ever touch it.
    }

    @Override
    public Transfer begin(RemoteBuffer buffer) {
        throw new TransferException(TransferException.Reason.UNAVAILABLE, "rdma is switched off");
    }

    @Override
    public void close() {
        // Nothing was opened.
    }
}
