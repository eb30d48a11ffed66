package io.railhead.cache;

/**
 * The cache quota of one tenant. Its pages are those that were fetched for it; pages in flight and
 * pinned ones do not count.
 *
 * @param quotaBytes what it may have at most: beyond, its own coldest pages go
 * @param floorBytes what others' demand leaves it of what it has
 */
public record TenantQuota(long quotaBytes, long floorBytes) {

    public static final long NO_QUOTA = Long.MAX_VALUE;

    public TenantQuota {
        if (floorBytes < 0 || quotaBytes < floorBytes) {
            throw new IllegalArgumentException(
                    "0 <= floorBytes <= quotaBytes: " + floorBytes + ", " + quotaBytes);
        }
    }

    /** What a tenant has now. */
    public record Use(String tenant, long bytes, long quotaEvictions) {}
}
