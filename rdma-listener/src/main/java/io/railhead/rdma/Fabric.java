package io.railhead.rdma;

import io.railhead.cache.memory.Slab;
import io.railhead.rdma.pairing.Pairing;
import io.railhead.rdma.session.ClientSession;
import java.util.Optional;

/**
 * Moves bytes between leased pages and a peer's memory, one-sided. Every fabric passes the suite
 * {@code FabricContract}. Any thread.
 */
public interface Fabric extends AutoCloseable {

    /** As metrics and answers name it: {@code loopback}, {@code verbs}, {@code dc}. */
    String name();

    Health health();

    /** Of what this session was opened for. */
    default Health health(ClientSession clientSession) {
        return health();
    }

    /** Whether a device has gone that it holds: it must be closed, or the device may not go. */
    default boolean hasLostDevice() {
        return false;
    }

    /** What it counted since the start, and holds now. */
    FabricStats stats();

    /** Makes a slab's pages usable; called once per slab before any of its pages is. */
    void register(Slab slab);

    /**
     * Begins one request's transfer. Throws {@link TransferException} if the buffer is not, or no
     * longer, what its session registered.
     */
    Transfer begin(RemoteBuffer buffer);

    /**
     * For peers that bring their own queue pairs; empty where there is no such thing, or not now.
     */
    default Optional<Pairing> pairing() {
        return Optional.empty();
    }

    /** Fences every transfer, then closes every session. */
    @Override
    void close();
}
