package io.railhead.cache;

import java.time.Duration;
import java.util.Map;

/**
 * The configuration of reads and fills.
 *
 * @param windowBytes the most bytes that one reader may hold leased or filling at a time
 * @param runBytes the longest ranged GET of a fill; runs start at multiples of it
 * @param shortageWait how long a fill waits for memory before its reader is served uncached
 * @param metadataEntries the number of objects whose metadata is kept
 * @param pinRatio the part of the cacheable memory that pinned pages may take
 * @param readAhead the limits of read-ahead
 * @param tenants the tenants that have a quota or a floor
 * @param verification how cached bytes are verified
 * @param guestBytes the most bytes of pages that other gateways keep as their own; 0 if none do
 */
public record CacheConfig(long windowBytes, long runBytes, Duration shortageWait,
        long metadataEntries, double pinRatio, ReadAhead.Limits readAhead,
        Map<String, TenantQuota> tenants, Verification verification, long guestBytes) {

    public static final CacheConfig DEFAULT = new CacheConfig(16L << 20, 8L << 20,
            Duration.ofMillis(100), 1_000_000, 0.5,
            new ReadAhead.Limits(64L << 20, 256L << 20));

    /** A configuration without guests. */
    public CacheConfig(long windowBytes, long runBytes, Duration shortageWait,
            long metadataEntries, double pinRatio, ReadAhead.Limits readAhead,
            Map<String, TenantQuota> tenants, Verification verification) {
        this(windowBytes, runBytes, shortageWait, metadataEntries, pinRatio, readAhead, tenants,
                verification, 0);
    }

    /** A configuration without rules for tenants, and without verification. */
    public CacheConfig(long windowBytes, long runBytes, Duration shortageWait,
            long metadataEntries, double pinRatio, ReadAhead.Limits readAhead) {
        this(windowBytes, runBytes, shortageWait, metadataEntries, pinRatio, readAhead, Map.of(),
                Verification.NONE);
    }

    public CacheConfig {
        tenants = Map.copyOf(tenants);
        if (windowBytes <= 0) {
            throw new IllegalArgumentException("windowBytes must be > 0: " + windowBytes);
        }
        if (runBytes <= 0) {
            throw new IllegalArgumentException("runBytes must be > 0: " + runBytes);
        }
        if (shortageWait.isNegative()) {
            throw new IllegalArgumentException("shortageWait must be >= 0: " + shortageWait);
        }
        if (metadataEntries <= 0) {
            throw new IllegalArgumentException("metadataEntries must be > 0: " + metadataEntries);
        }
        if (guestBytes < 0) {
            throw new IllegalArgumentException("guestBytes must be >= 0: " + guestBytes);
        }
    }

    /** Returns how many bytes may hold cached data, of so much memory without the reserve. */
    public static long cacheableBytes(long memoryBytes, long runBytes) {
        return PageIndex.cacheable(memoryBytes, runBytes);
    }
}
