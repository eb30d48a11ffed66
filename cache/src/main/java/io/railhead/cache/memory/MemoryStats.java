package io.railhead.cache.memory;

/**
 * A snapshot, in bytes unless named otherwise: capacity = used + free + free reserve.
 *
 * @param capacityBytes all slabs that serve by now, reserve included
 * @param freeBytes what {@code CACHE} may still take
 * @param reserveBytes the part of the capacity that is the reserve
 * @param reserveFreeBytes what {@code RESERVE} may still take
 * @param usedBytes slots held by pages, of either pool
 * @param leases open leases, a count
 * @param oldestLeaseSeconds 0 if there is none, or none has lived for a second
 * @param condemnedBytes pages no longer indexed whose leases have not all ended
 */
public record MemoryStats(long capacityBytes, long freeBytes, long reserveBytes,
        long reserveFreeBytes, long usedBytes,
        long condemnedBytes, long leases, long oldestLeaseSeconds) {}
