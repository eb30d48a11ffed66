package io.railhead.cache.writeback;

import java.util.List;

/**
 * The bytes of one write in the file.
 *
 * @param length without the padding of the last block
 * @param extents where they are, in order
 * @param sums a CRC32C of each chunk; the last chunk may be short
 */
record StoredBytes(long length, List<Extent> extents, List<Integer> sums) {
    static final StoredBytes NONE = new StoredBytes(0, List.of(), List.of());

    StoredBytes {
        extents = List.copyOf(extents);
        sums = List.copyOf(sums);
    }

    /** Takes a run of the file that belongs to a run of the bytes. */
    @FunctionalInterface
    interface Piece {

        /**
         * @param at the place in the file
         * @param from the first byte, counted from the beginning of the wanted run
         */
        void at(long at, long from, long bytes);
    }

    /** Visits the places of some bytes in order; both numbers are whole blocks. */
    void forEachPiece(long from, long bytes, Piece piece) {
        long skipped = 0;
        long done = 0;
        for (Extent extent : extents) {
            long begin = Math.max(from + done, skipped);
            long end = Math.min(from + bytes, skipped + extent.bytes());
            if (begin < end) {
                piece.at(extent.at() + begin - skipped, begin - from, end - begin);
                done += end - begin;
            }
            skipped += extent.bytes();
        }
        if (done != bytes) {
            throw new IllegalStateException("beyond the bytes: " + from + " + " + bytes);
        }
    }
}
