package io.railhead.cache;

import java.util.Map;

/**
 * Counters since the start, and the current content.
 *
 * @param readAheadBytes fetched before a request wanted them; part of {@code fillBytes} once they
 *            are filled
 * @param checksumMatches whole objects whose bytes matched the store's checksum
 * @param checksumMismatches objects whose bytes did not match the store's checksum
 * @param evictedPages all causes, with 0 for those that never occurred
 * @param pinnedBytes memory of pinned pages, at most {@code pinLimitBytes}
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

    /** Returns the number of pages evicted for this cause. */
    public long evicted(EvictionCause cause) {
        return evictedPages.getOrDefault(cause, 0L);
    }
}
