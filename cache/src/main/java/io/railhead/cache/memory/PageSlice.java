package io.railhead.cache.memory;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A part of one page and the lease that keeps it: closing the slice ends the lease. Bounds lie
 * within the page's valid length.
 *
 * @param objectOffset the offset of the slice's first byte in the object
 * @param offset the offset in the page
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
     * Returns a part of the bytes with a lease of its own, which the caller closes. This slice must
     * stay open during the call.
     */
    public PageSlice part(int from, int bytes) {
        lease.requireOpen();
        if (from < 0 || bytes <= 0 || bytes > length - from) {
            throw new IllegalArgumentException("part must lie within the slice: [" + from + ", +"
                    + bytes + ") of " + length);
        }
        return new PageSlice(lease.page().retainAgain(), objectOffset + from, offset + from,
                bytes);
    }

    /**
     * Returns the bytes as segments, in order, one for each range of adjacent slots. They are
     * read-only, except those of an unpublished landing page. Throws once the slice is closed.
     */
    public List<MemorySegment> segments() {
        lease.requireOpen();
        return lease.page().segments(offset, length);
    }

    /**
     * Returns the bytes as read-only direct buffers, in order, one for each range of adjacent
     * slots, without a copy. Throws once the slice is closed.
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
     * Writes the ranges of {@link #segments()} into the arrays as addresses for an adapter;
     * allocates nothing. Throws once the slice is closed, and if the arrays are too short.
     *
     * @param addresses receives each range's first byte, from index {@code at} on
     * @param lengths receives each range's bytes
     * @return the number of ranges
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
