package io.railhead.rdma.loopback;

import io.railhead.cache.memory.PageSlice;
import java.lang.foreign.MemorySegment;

/**
 * A peer's registered bytes, as this process reaches them; offsets count from the first. Whoever
 * calls has checked the bounds and holds the region. Calls throw {@link InternalError} or
 * {@link java.io.UncheckedIOException} where the bytes cannot be touched. Any thread.
 */
interface PeerMemory extends AutoCloseable {

    /** Whether to touch it may take as long as the peer likes, or for ever. */
    boolean mayBlock();

    /** Copies the slice's bytes to {@code offset}. */
    void put(long offset, PageSlice slice);

    void put(long offset, MemorySegment from, long at, long bytes);

    void get(long offset, MemorySegment into, long at, long bytes);

    @Override
    void close();
}
