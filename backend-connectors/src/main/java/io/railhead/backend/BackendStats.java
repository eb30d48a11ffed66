package io.railhead.backend;

/**
 * Counters since the start, where {@code requests} and {@code bytesIn} include retries, and the
 * current state.
 *
 * @param fetchLimit the current limit of concurrent fetches
 * @param rateWaiting the requests that wait for the store's rate now
 * @param rateDelayed the requests that had to wait for it
 */
public record BackendStats(long requests, long rangedGets, long heads, long retries, long failures,
        long bytesIn,
        long bytesOut, int healthyEndpoints, int endpoints, int fetchLimit,
        int fetchesUnderWay, int fetchesWaiting, int rateWaiting, long rateDelayed) {}
