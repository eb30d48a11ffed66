package io.railhead.cache.memory;

/**
 * How much memory, and how it is cut.
 *
 * @param memoryBytes all of it, reserve included ({@code cache.memory})
 * @param pageBytes the large slot, a power of two from 64 KiB to 1 MiB ({@code cache.page})
 * @param reserveRatio the part that never holds cached data ({@code cache.reserve})
 * @param lock whether pages are locked in memory, as registration with a NIC does
 */
public record MemoryConfig(long memoryBytes, int pageBytes, double reserveRatio, boolean lock) {

    public MemoryConfig {
        if (pageBytes < 64 << 10 || pageBytes > 1 << 20 || Integer.bitCount(pageBytes) != 1) {
            throw new IllegalArgumentException(
                    "pageBytes must be a power of two from 64 KiB to 1 MiB: " + pageBytes);
        }
        if (memoryBytes < pageBytes) {
            throw new IllegalArgumentException(
                    "memoryBytes must be at least one page of " + pageBytes + ": " + memoryBytes);
        }
        if (!(reserveRatio >= 0 && reserveRatio < 1)) {
            throw new IllegalArgumentException(
                    "reserveRatio must be >= 0 and < 1: " + reserveRatio);
        }
    }
}
