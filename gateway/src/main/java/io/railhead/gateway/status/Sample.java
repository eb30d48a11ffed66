package io.railhead.gateway.status;

import io.railhead.gateway.status.Series.Bucket;
import java.util.List;
import java.util.Map;

/**
 * The counters since the start at one moment.
 *
 * @param atMillis by the wall clock, for people
 * @param atNanos by the monotonic clock, for rates
 * @param path delivered bytes, by how they went: a fabric's name, or one of {@link Sampler}'s
 * @param requests by operation, how long they took
 * @param stores by name, how long their answers took
 */
record Sample(long atMillis, long atNanos, Map<String, Long> path, Answers answers, Reads reads,
        long storeBytes,
        long evictedPages, long shortages, Map<String, List<Bucket>> requests,
        Map<String, List<Bucket>> stores) {

    /** Requests over HTTP, and those of them that failed: 5xx, or cut in mid-body. */
    record Answers(long all, long failed) {}

    /**
     * Object reads.
     *
     * @param hits held, and revalidated or not
     * @param misses at least partly fetched
     * @param sparedBytes delivered out of the cache
     */
    record Reads(long hits, long misses, long sparedBytes) {}
}
