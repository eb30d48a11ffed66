package io.railhead.backend;

/**
 * Counts since start: {@code requests} and {@code bytesIn} include retries; and as it is now.
 *
 * @param fetchLimit how many fetches the store is trusted with at a time
 */
public record BackendStats(long requests, long rangedGets, long heads, long retries, long failures,
        long bytesIn,
        long bytesOut, int healthyEndpoints, int endpoints, int fetchLimit,
        int fetchesUnderWay, int fetchesWaiting) {}
