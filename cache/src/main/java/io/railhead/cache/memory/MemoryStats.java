package io.railhead.cache.memory;

/**
 * A snapshot, in bytes unless named otherwise.
 *
 * @param leases
 *            open leases, a count
 * @param condemnedBytes
 *            pages no longer indexed whose leases have not all ended
 */
public record MemoryStats(long capacityBytes, long freeBytes, long reserveBytes,
        long reserveFreeBytes, long usedBytes,
        long condemnedBytes, long leases) {}
