package io.railhead.os;

import java.lang.foreign.MemorySegment;

/**
 * A range of memory made by mmap(2), outside the heap. Its creator owns it and unmaps it with
 * {@link #close}; the segment of a closed mapping throws {@link IllegalStateException} on access.
 */
public final class Mapping implements AutoCloseable {
    private final MemorySegment segment;

    Mapping(MemorySegment segment) {
        this.segment = segment;
    }

    /** Anonymous private memory, zeroed; huge pages where the machine has any to give. */
    public static Mapping anonymous(long bytes) {
        throw new UnsupportedOperationException();
    }

    public MemorySegment segment() {
        return segment;
    }

    /** Faults in every page now, so that no later access does (madvise MADV_POPULATE_WRITE). */
    public void populate() {
        throw new UnsupportedOperationException();
    }

    /** Locks the pages in memory (mlock); throws {@link OsException} where the limit forbids it. */
    public void lock() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {
        throw new UnsupportedOperationException();
    }
}
