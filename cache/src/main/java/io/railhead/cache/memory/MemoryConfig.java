package io.railhead.cache.memory;

import io.railhead.os.HugePageSize;
import org.jspecify.annotations.Nullable;

/**
 * The size of the page memory, and how it is cut into slots.
 *
 * @param memoryBytes all of it, reserve included ({@code cache.memory})
 * @param pageBytes the large slot, a power of two from 64 KiB to 1 MiB ({@code cache.page})
 * @param reserveRatio the part that never holds cached data ({@code cache.reserve})
 * @param lock whether pages are locked in memory, as registration with a NIC does; huge pages
 *            always are
 * @param hugePages the page size of slabs ({@code cache.huge_pages}); null for ordinary pages
 */
public record MemoryConfig(long memoryBytes, int pageBytes, double reserveRatio, boolean lock,
        @Nullable HugePageSize hugePages) {

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
        if (hugePages != null && memoryBytes % hugePages.bytes() != 0) {
            throw new IllegalArgumentException(
                    "memoryBytes must be a multiple of " + hugePages + ": " + memoryBytes);
        }
    }

    /** A configuration with ordinary pages. */
    public MemoryConfig(long memoryBytes, int pageBytes, double reserveRatio, boolean lock) {
        this(memoryBytes, pageBytes, reserveRatio, lock, null);
    }
}
