package io.railhead.cache.memory;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A part of one page and the lease that keeps it: closing the slice ends the lease. Bounds lie
 * within the page's valid length.
 *
 * @param objectOffset
 *            where the slice's first byte lies in the object
 * @param offset
 *            where it lies in the page
 * @param length
 *            bytes, greater than 0
 */
public record PageSlice(Lease lease, long objectOffset, int offset,
        int length) implements AutoCloseable {

    /** The bytes as segments, one per slot touched, in order. */
    public List<MemorySegment> segments() {
        throw new UnsupportedOperationException();
    }

    /** The bytes as read-only direct buffers, one per slot touched, in order; nothing is copied. */
    public List<ByteBuffer> buffers() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {
        lease.close();
    }
}
