package io.railhead.rdma.loopback;

import io.railhead.cache.memory.PageSlice;
import java.lang.foreign.MemorySegment;

/**
 * A bounce buffer: shared memory that stands for private memory of the peer. Bytes that are put
 * have reached the peer's own memory when the call returns, and bytes that are got are those of the
 * peer's memory at that time. This object owns the mapping.
 */
final class BounceMemory implements PeerMemory {
    private final MappedMemory ownedBuffer;
    private final BounceSyncs syncs;
    private final long handle;

    BounceMemory(MappedMemory ownedBuffer, BounceSyncs syncs, long handle) {
        this.ownedBuffer = ownedBuffer;
        this.syncs = syncs;
        this.handle = handle;
    }

    /** Returns true: the peer copies when it likes. */
    @Override
    public boolean mayBlock() {
        return true;
    }

    @Override
    public void put(long offset, PageSlice slice) {
        ownedBuffer.put(offset, slice);
        syncs.copy(true, handle, offset, slice.length());
    }

    @Override
    public void put(long offset, MemorySegment from, long at, long bytes) {
        ownedBuffer.put(offset, from, at, bytes);
        syncs.copy(true, handle, offset, bytes);
    }

    @Override
    public void get(long offset, MemorySegment into, long at, long bytes) {
        syncs.copy(false, handle, offset, bytes);
        ownedBuffer.get(offset, into, at, bytes);
    }

    @Override
    public void close() {
        ownedBuffer.close();
    }
}
