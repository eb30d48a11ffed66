package io.railhead.backend;

/** Counts since start: {@code requests} and {@code bytesIn} include retries. */
public record BackendStats(long requests, long rangedGets, long heads, long retries, long failures,
        long bytesIn,
        long bytesOut, int healthyEndpoints, int endpoints) {}
