package io.railhead.cache.writeback;

import static io.railhead.os.BlockFile.BLOCK_BYTES;

/**
 * The division of the file.
 *
 * <pre>
 * | header | half A | half A again | half B | half B again | bytes of writes ... |
 * </pre>
 *
 * <p> One half is the journal. Each of its batches is written at two places, so that one damaged
 * place loses nothing. The other half becomes the journal when this one is full.
 *
 * @param fileBytes the size of the file
 * @param halfBytes the size of one copy of one half
 * @param chunkBytes the bytes that share a checksum
 */
record LogLayout(long fileBytes, int halfBytes, int chunkBytes) {
    static final long LEAST_BYTES = 64L << 20;
    private static final int CHUNK_BYTES = 512 << 10;
    private static final int LEAST_HALF_BYTES = 1 << 20;
    private static final int MOST_HALF_BYTES = 64 << 20;
    private static final int FILE_PER_HALF = 128;

    LogLayout {
        if (fileBytes % BLOCK_BYTES != 0 || halfBytes % BLOCK_BYTES != 0
                || chunkBytes % BLOCK_BYTES != 0) {
            throw new IllegalArgumentException("sizes must be whole blocks: " + fileBytes + ", "
                    + halfBytes + ", " + chunkBytes);
        }
        if (fileBytes < BLOCK_BYTES + 4L * halfBytes + chunkBytes) {
            throw new IllegalArgumentException("fileBytes is too small: " + fileBytes);
        }
    }

    static LogLayout of(long fileBytes) {
        long half = Math.clamp(fileBytes / FILE_PER_HALF, LEAST_HALF_BYTES, MOST_HALF_BYTES);
        return new LogLayout(fileBytes, (int) (half - half % BLOCK_BYTES), CHUNK_BYTES);
    }

    /**
     * Returns the place of a half of the journal.
     *
     * @param half 0 or 1
     * @param copy 0 or 1
     */
    long halfAt(int half, int copy) {
        return BLOCK_BYTES + (2L * half + copy) * halfBytes;
    }

    long dataAt() {
        return BLOCK_BYTES + 4L * halfBytes;
    }

    long dataBytes() {
        return fileBytes - dataAt();
    }

    /** Returns the most that all entries together may take in the journal. */
    int mostEntryBytes() {
        return halfBytes / 2;
    }

    static long wholeBlocks(long bytes) {
        return (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
    }
}
