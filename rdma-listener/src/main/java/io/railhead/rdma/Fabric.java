package io.railhead.rdma;

import io.railhead.cache.memory.Slab;
import io.railhead.rdma.pairing.Pairing;
import io.railhead.rdma.session.ClientSession;
import java.util.Optional;

/**
 * Moves bytes between leased pages and a peer's memory, one-sided. Every fabric passes the test
 * suite {@code FabricContract}. Any thread.
 */
public interface Fabric extends AutoCloseable {

    /** Returns the name in metrics and responses: {@code loopback}, {@code verbs}, {@code dc}. */
    String name();

    Health health();

    /** Returns the health for this session. */
    default Health health(ClientSession clientSession) {
        return health();
    }

    /**
     * Returns whether the fabric still holds a removed device: it must be closed, or the kernel
     * cannot finish the removal.
     */
    default boolean hasLostDevice() {
        return false;
    }

    /** Returns the counters since the start, and the current state. */
    FabricStats stats();

    /**
     * Registers a slab with the adapters; called once for each slab before any of its pages is
     * used.
     */
    void register(Slab slab);

    /**
     * Begins one request's transfer. Throws {@link TransferException} unless the session has this
     * buffer registered now.
     */
    Transfer begin(RemoteBuffer buffer);

    /**
     * Returns the pairing for peers with queue pairs of their own; empty if there is none, or none
     * now.
     */
    default Optional<Pairing> pairing() {
        return Optional.empty();
    }

    /** Fences every transfer, then closes every session. */
    @Override
    void close();
}
