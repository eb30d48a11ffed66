package io.railhead.cache;

import java.util.Map;

/**
 * Counts since start, and what is held now.
 *
 * @param readAheadBytes fetched before anybody asked for them; of {@code fillBytes}, once there
 * @param checksumMatches objects of which all bytes had come, as their stores' checksums say
 * @param checksumMismatches objects whose bytes were other ones
 * @param evictedPages all causes, with 0 for those that never were
 * @param pinnedBytes memory of pages that are not evicted, of {@code pinLimitBytes} at most
 */
public record CacheStats(long pageHits, long pageMisses, long pageJoins, long fillRuns,
        long fillBytes,
        long fillFailures, Map<EvictionCause, Long> evictedPages, long shortages, long objects,
        long pages,
        long stagedBytes, long pinnedBytes, long pinLimitBytes, long readAheadBytes,
        long checksumMatches, long checksumMismatches) {

    public CacheStats {
        evictedPages = Map.copyOf(evictedPages);
    }

    /** Pages that left for this cause. */
    public long evicted(EvictionCause cause) {
        return evictedPages.getOrDefault(cause, 0L);
    }
}
