package io.railhead.gateway.status;

import io.railhead.gateway.status.Series.Bucket;
import java.util.List;
import java.util.Map;

/**
 * The counters since the start, at one moment.
 *
 * @param atMillis wall clock time, for display
 * @param atNanos monotonic time, for rates
 * @param path delivered bytes by path: a fabric's name, or one of {@link Sampler}'s names
 * @param requests response times by operation
 * @param stores response times by store
 */
record Sample(long atMillis, long atNanos, Map<String, Long> path, Answers answers, Reads reads,
        long storeBytes,
        long evictedPages, long shortages, Map<String, List<Bucket>> requests,
        Map<String, List<Bucket>> stores) {

    /** The numbers of HTTP requests, and of failed ones: 5xx, or cut in mid-body. */
    record Answers(long all, long failed) {}

    /**
     * Object reads.
     *
     * @param hits cached objects, revalidated or not
     * @param misses objects of which a part was fetched
     * @param sparedBytes bytes delivered from the cache
     */
    record Reads(long hits, long misses, long sparedBytes) {}
}
