package io.railhead.rdma;

import io.railhead.cache.memory.Slab;

/**
 * A fabric that is switched off, or cannot be used on this machine: every transfer is declined.
 *
 * @param reason what peers and metrics are told
 */
public record UnavailableFabric(String name, String reason) implements Fabric {

    @Override
    public Health health() {
        return Health.down(reason);
    }

    @Override
    public FabricStats stats() {
        return FabricStats.NONE;
    }

    /** Nothing will ever touch it. */
    @Override
    public void register(Slab slab) {}

    @Override
    public Transfer begin(RemoteBuffer buffer) {
        throw new TransferException(TransferException.Reason.UNAVAILABLE, name + ": " + reason);
    }

    @Override
    public void close() {}
}
