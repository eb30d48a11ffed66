package io.railhead.rdma.loopback;

import io.railhead.os.Mapping;
import io.railhead.protocol.message.Message.Bounce;
import io.railhead.protocol.message.Message.Register;
import org.jspecify.annotations.Nullable;

/**
 * Shared memory that a peer has announced, and whose descriptor is to follow.
 *
 * @param bounceHandle the peer's name for a bounce buffer; null for memory that the peer uses
 *            itself
 */
record MemoryOffer(long baseAddress, long length, @Nullable Long bounceHandle) {

    static MemoryOffer of(Register register) {
        return new MemoryOffer(register.baseAddress(), register.length(), null);
    }

    static MemoryOffer of(Bounce bounce) {
        return new MemoryOffer(bounce.baseAddress(), bounce.length(), bounce.handle());
    }

    PeerMemory memory(Mapping ownedMapping, BounceSyncs syncs) {
        MappedMemory mapped = new MappedMemory(ownedMapping, length);
        return bounceHandle == null ? mapped : new BounceMemory(mapped, syncs, bounceHandle);
    }
}
