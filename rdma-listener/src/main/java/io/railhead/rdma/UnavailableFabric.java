package io.railhead.rdma;

import io.railhead.cache.memory.Slab;

/**
 * A fabric that is disabled or cannot be used on this machine: every transfer is declined.
 *
 * @param reason the reason that peers and metrics get
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

    /** Does nothing: no transfer will touch the slab. */
    @Override
    public void register(Slab slab) {}

    @Override
    public Transfer begin(RemoteBuffer buffer) {
        throw new TransferException(TransferException.Reason.UNAVAILABLE, name + ": " + reason);
    }

    @Override
    public void close() {}
}
