package io.railhead.gateway.config;

/** The mode of caching of a rule. */
public enum CacheMode {
    OFF,
    READS,
    READS_AND_WRITES
}
