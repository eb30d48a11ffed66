package io.railhead.gateway.rdma.pairing;

import io.railhead.cache.memory.Slab;
import io.railhead.rdma.Fabric;
import io.railhead.rdma.FabricStats;
import io.railhead.rdma.Health;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.session.ClientSession;
import org.jspecify.annotations.Nullable;

/**
 * One request's view of a fabric, which computes a checksum of the transfer, and a new one if the
 * request restarts.
 */
final class Crc64Fabric implements Fabric {
    private final Fabric under;
    private volatile @Nullable Crc64Transfer last;

    Crc64Fabric(Fabric under) {
        this.under = under;
    }

    /** Returns the checksum header of the latest transfer. */
    String header() {
        Crc64Transfer transfer = last;
        if (transfer == null) {
            throw new IllegalStateException("nothing was transferred");
        }
        return transfer.header();
    }

    @Override
    public Transfer begin(RemoteBuffer buffer) {
        Crc64Transfer transfer = new Crc64Transfer(under.begin(buffer));
        last = transfer;
        return transfer;
    }

    @Override
    public String name() {
        return under.name();
    }

    @Override
    public Health health() {
        return under.health();
    }

    @Override
    public Health health(ClientSession clientSession) {
        return under.health(clientSession);
    }

    @Override
    public FabricStats stats() {
        return under.stats();
    }

    @Override
    public void register(Slab slab) {
        throw new UnsupportedOperationException("slabs are registered with the fabric itself");
    }

    @Override
    public void close() {
        throw new UnsupportedOperationException("a request does not close the fabric");
    }
}
