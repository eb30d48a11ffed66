package io.railhead.backend;

/**
 * Counters since the start, where {@code requests} and {@code bytesIn} include retries, and the
 * current state.
 *
 * @param fetchLimit the current limit of concurrent fetches
 */
public record BackendStats(long requests, long rangedGets, long heads, long retries, long failures,
        long bytesIn,
        long bytesOut, int healthyEndpoints, int endpoints, int fetchLimit,
        int fetchesUnderWay, int fetchesWaiting) {}
