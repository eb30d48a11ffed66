package io.railhead.rdma.loopback;

import io.railhead.cache.memory.PageSlice;
import io.railhead.os.ProcessMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;

/**
 * Memory of the peer's own, not shared, reached through the kernel. It owns the process's map. The
 * kernel would let all of that be touched: that nothing but the registered range is, the region
 * sees to.
 */
final class AttachedMemory implements PeerMemory {
    private final ProcessMemory ownedProcess;
    private final long baseAddress;

    AttachedMemory(ProcessMemory ownedProcess, long baseAddress) {
        this.ownedProcess = ownedProcess;
        this.baseAddress = baseAddress;
    }

    /** As where its pages are a file system's of the peer's own, or by userfaultfd its own. */
    @Override
    public boolean mayBlock() {
        return true;
    }

    @Override
    public void put(long offset, PageSlice slice) {
        long at = offset;
        for (MemorySegment stretch : slice.segments()) {
            put(at, stretch, 0, stretch.byteSize());
            at += stretch.byteSize();
        }
    }

    @Override
    public void put(long offset, MemorySegment from, long at, long bytes) {
        try {
            ownedProcess.write(baseAddress + offset, from.asSlice(at, bytes));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void get(long offset, MemorySegment into, long at, long bytes) {
        try {
            ownedProcess.read(baseAddress + offset, into.asSlice(at, bytes));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        ownedProcess.close();
    }
}
