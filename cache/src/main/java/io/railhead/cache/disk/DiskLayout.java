package io.railhead.cache.disk;

import io.railhead.os.BlockFile;

/**
 * The division of one file or device.
 *
 * <pre>
 *   0           4 KiB  132 KiB      1 MiB                                       last 4 KiB
 *   │ superblock │ keys │ tombstones │ segment 0 │ segment 1 │ …        (rest)  │ superblock │
 *
 *   segment:    │ pages, packed in units of 4 KiB                │ footer │
 * </pre>
 *
 * @param volumeBytes the whole size
 * @param pageBytes the length of the longest page
 */
record DiskLayout(long volumeBytes, long segmentBytes, int footerBytes, int pageBytes) {
    static final int UNIT_BYTES = BlockFile.BLOCK_BYTES;
    static final long SEGMENTS_AT = 1 << 20;
    static final int KEYS_AT = UNIT_BYTES;
    static final int KEYS_BYTES = 128 << 10;
    static final int TOMBSTONES_AT = KEYS_AT + KEYS_BYTES;
    static final int TOMBSTONE_BYTES = (int) SEGMENTS_AT - TOMBSTONES_AT;
    /** Fewer would leave the writer without a segment that it may reuse. */
    private static final int FEWEST_SEGMENTS = 2;
    private static final long SEGMENT_BYTES = 64L << 20;
    private static final int FOOTER_BYTES = 256 << 10;
    /** A place in the index is an unsigned int. */
    static final long MOST_UNITS = 1L << 32;

    DiskLayout {
        if (segmentBytes % UNIT_BYTES != 0 || footerBytes % UNIT_BYTES != 0
                || pageBytes % UNIT_BYTES != 0 || volumeBytes % UNIT_BYTES != 0) {
            throw new IllegalArgumentException("sizes must be whole units of " + UNIT_BYTES);
        }
        if (footerBytes + (long) pageBytes > segmentBytes) {
            throw new IllegalArgumentException("segmentBytes must hold a page: " + segmentBytes);
        }
        if (segments(volumeBytes, segmentBytes) < FEWEST_SEGMENTS) {
            throw new IllegalArgumentException("volumeBytes must be at least "
                    + leastBytes(segmentBytes) + ": " + volumeBytes);
        }
        if (volumeBytes / UNIT_BYTES > MOST_UNITS) {
            throw new IllegalArgumentException(
                    "volumeBytes must be at most 16 TiB: " + volumeBytes);
        }
    }

    /** Returns the layout of a file of this size. */
    static DiskLayout of(long volumeBytes, int pageBytes) {
        return new DiskLayout(volumeBytes - volumeBytes % UNIT_BYTES, SEGMENT_BYTES, FOOTER_BYTES,
                pageBytes);
    }

    /** Returns the size of the smallest file. */
    static long leastBytes() {
        return leastBytes(SEGMENT_BYTES);
    }

    private static long leastBytes(long segmentBytes) {
        return SEGMENTS_AT + FEWEST_SEGMENTS * segmentBytes + UNIT_BYTES;
    }

    private static long segments(long volumeBytes, long segmentBytes) {
        return (volumeBytes - SEGMENTS_AT - UNIT_BYTES) / segmentBytes;
    }

    static int unitsOf(int bytes) {
        return Math.ceilDiv(bytes, UNIT_BYTES);
    }

    int segments() {
        return (int) segments(volumeBytes, segmentBytes);
    }

    int unitsPerSegment() {
        return (int) (segmentBytes / UNIT_BYTES);
    }

    /** Returns the units of a segment that hold pages. */
    int dataUnits() {
        return (int) ((segmentBytes - footerBytes) / UNIT_BYTES);
    }

    long unitAt(int segment, int unit) {
        return SEGMENTS_AT + segment * segmentBytes + (long) unit * UNIT_BYTES;
    }

    long footerAt(int segment) {
        return SEGMENTS_AT + (segment + 1) * segmentBytes - footerBytes;
    }

    long secondSuperblockAt() {
        return volumeBytes - UNIT_BYTES;
    }

    /** Returns the number of pages that fit if all have full length. */
    long pages() {
        return volumeBytes / pageBytes;
    }
}
