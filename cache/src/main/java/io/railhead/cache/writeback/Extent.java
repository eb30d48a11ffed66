package io.railhead.cache.writeback;

/**
 * A run of bytes in the file.
 *
 * @param at its place, a multiple of the block's size
 * @param bytes its length, a multiple of the block's size
 */
record Extent(long at, long bytes) {

    long end() {
        return at + bytes;
    }
}
