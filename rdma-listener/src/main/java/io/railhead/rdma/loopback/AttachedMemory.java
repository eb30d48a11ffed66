package io.railhead.rdma.loopback;

import io.railhead.cache.memory.PageSlice;
import io.railhead.os.ProcessMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;

/**
 * A peer's private memory, reached through the kernel. This object owns the handle of the peer's
 * process. The kernel would allow access to the whole process: the region restricts it to the
 * registered range.
 */
final class AttachedMemory implements PeerMemory {
    private final ProcessMemory ownedProcess;
    private final long baseAddress;

    AttachedMemory(ProcessMemory ownedProcess, long baseAddress) {
        this.ownedProcess = ownedProcess;
        this.baseAddress = baseAddress;
    }

    /**
     * Returns true: the peer can back the pages by its own file system or by userfaultfd, and never
     * answer.
     */
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
