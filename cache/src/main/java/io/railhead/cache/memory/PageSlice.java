package io.railhead.cache.memory;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A part of one page and the lease that keeps it: closing the slice ends the lease. Bounds lie
 * within the page's valid length.
 *
 * @param objectOffset where the slice's first byte lies in the object
 * @param offset where it lies in the page
 * @param length bytes, greater than 0
 */
public record PageSlice(Lease lease, long objectOffset, int offset,
        int length) implements AutoCloseable {

    public PageSlice {
        if (offset < 0 || length <= 0 || length > lease.page().length() - offset) {
            throw new IllegalArgumentException("slice must lie within the page: [" + offset + ", +"
                    + length + ") of " + lease.page().length());
        }
    }

    /**
     * The bytes as segments, in order, one per stretch of adjacent slots. They are read-only,
     * except those of a landing page that is not published yet. Throws once the slice is closed.
     */
    public List<MemorySegment> segments() {
        lease.requireOpen();
        return lease.page().segments(offset, length);
    }

    /**
     * The bytes as read-only direct buffers, in order, one per stretch of adjacent slots; nothing
     * is copied. Throws once the slice is closed.
     */
    public List<ByteBuffer> buffers() {
        List<MemorySegment> segments = segments();
        if (segments.size() == 1) {
            return List.of(segments.getFirst().asByteBuffer().asReadOnlyBuffer());
        }
        return segments.stream()
                .map(segment -> segment.asByteBuffer().asReadOnlyBuffer())
                .toList();
    }

    /**
     * The same stretches as {@link #segments()}, as addresses for an adapter: nothing is allocated.
     * Throws once the slice is closed, and where the arrays are too short.
     *
     * @param addresses receives each stretch's first byte, from index {@code at} on
     * @param lengths receives each stretch's bytes
     * @return how many there are
     */
    public int stretches(long[] addresses, int[] lengths, int at) {
        lease.requireOpen();
        return lease.page().stretches(offset, length, addresses, lengths, at);
    }

    /** Copies the bytes to {@code at} of the target; allocates nothing. */
    public void copyTo(MemorySegment target, long at) {
        lease.requireOpen();
        lease.page().copyTo(offset, length, target, at);
    }

    @Override
    public void close() {
        lease.close();
    }
}
