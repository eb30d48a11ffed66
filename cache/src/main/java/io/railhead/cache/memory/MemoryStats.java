package io.railhead.cache.memory;

/**
 * A snapshot, in bytes unless named otherwise: capacity = used + free + free reserve.
 *
 * @param capacityBytes all slabs that are in use by now, reserve included
 * @param freeBytes the bytes that {@code CACHE} may still take
 * @param reserveBytes the part of the capacity that is the reserve
 * @param reserveFreeBytes the bytes that {@code RESERVE} may still take
 * @param usedBytes slots held by pages, of either pool
 * @param leases open leases, a count
 * @param oldestLeaseSeconds 0 if there is none, or none has lived for a second
 * @param condemnedBytes pages that are evicted and still leased
 */
public record MemoryStats(long capacityBytes, long freeBytes, long reserveBytes,
        long reserveFreeBytes, long usedBytes,
        long condemnedBytes, long leases, long oldestLeaseSeconds) {}
