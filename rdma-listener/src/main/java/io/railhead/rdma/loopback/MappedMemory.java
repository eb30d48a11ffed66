package io.railhead.rdma.loopback;

import io.railhead.cache.memory.PageSlice;
import io.railhead.os.Mapping;
import java.lang.foreign.MemorySegment;

/** A memfd that the peer passed, mapped into this process. This object owns the mapping. */
final class MappedMemory implements PeerMemory {
    private final Mapping ownedMapping;
    private final MemorySegment memory;

    MappedMemory(Mapping ownedMapping, long length) {
        this.ownedMapping = ownedMapping;
        this.memory = ownedMapping.segment().asSlice(0, length);
    }

    @Override
    public boolean mayBlock() {
        return false;
    }

    @Override
    public void put(long offset, PageSlice slice) {
        slice.copyTo(memory, offset);
    }

    @Override
    public void put(long offset, MemorySegment from, long at, long bytes) {
        MemorySegment.copy(from, at, memory, offset, bytes);
    }

    @Override
    public void get(long offset, MemorySegment into, long at, long bytes) {
        MemorySegment.copy(memory, offset, into, at, bytes);
    }

    @Override
    public void close() {
        ownedMapping.close();
    }
}
