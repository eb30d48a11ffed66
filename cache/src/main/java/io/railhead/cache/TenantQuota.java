package io.railhead.cache;

/**
 * The cache quota of one tenant. The pages fetched for a tenant count, without pages in flight and
 * pinned ones.
 *
 * @param quotaBytes the most bytes that it may have: beyond, its own coldest pages are evicted
 * @param floorBytes the bytes that other tenants' demand cannot evict
 */
public record TenantQuota(long quotaBytes, long floorBytes) {

    public static final long NO_QUOTA = Long.MAX_VALUE;

    public TenantQuota {
        if (floorBytes < 0 || quotaBytes < floorBytes) {
            throw new IllegalArgumentException(
                    "0 <= floorBytes <= quotaBytes: " + floorBytes + ", " + quotaBytes);
        }
    }

    /** The current use of one tenant. */
    public record Use(String tenant, long bytes, long quotaEvictions) {}
}
