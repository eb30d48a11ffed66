package io.railhead.rdma.loopback;

import io.railhead.cache.memory.PageSlice;
import java.lang.foreign.MemorySegment;

/**
 * A peer's registered bytes, as this process reaches them; offsets count from the first. The caller
 * has checked the bounds and holds the region. Calls throw {@link InternalError} or
 * {@link java.io.UncheckedIOException} if the bytes are not accessible. Any thread.
 */
interface PeerMemory extends AutoCloseable {

    /** Returns whether an access may block for any time, at the peer's will. */
    boolean mayBlock();

    /** Copies the slice's bytes to {@code offset}. */
    void put(long offset, PageSlice slice);

    void put(long offset, MemorySegment from, long at, long bytes);

    void get(long offset, MemorySegment into, long at, long bytes);

    @Override
    void close();
}
