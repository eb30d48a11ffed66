package io.railhead.cache;

import java.time.Duration;

/**
 * How objects are read and filled.
 *
 * @param windowBytes
 *            what one reader may hold leased or filling at a time
 * @param runBytes
 *            the longest ranged GET of a fill; runs start at multiples of it
 * @param shortageWait
 *            how long a fill waits for memory before its reader goes uncached
 * @param metadataEntries
 *            how many objects' metadata are kept
 */
public record CacheConfig(long windowBytes, long runBytes, Duration shortageWait,
        long metadataEntries) {

    public static final CacheConfig DEFAULT = new CacheConfig(16L << 20, 8L << 20,
            Duration.ofMillis(100), 1_000_000);
}
