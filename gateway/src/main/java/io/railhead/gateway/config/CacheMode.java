package io.railhead.gateway.config;

/** What a rule keeps. */
public enum CacheMode {
    OFF,
    READS,
    READS_AND_WRITES
}
