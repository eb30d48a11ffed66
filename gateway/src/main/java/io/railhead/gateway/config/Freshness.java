package io.railhead.gateway.config;

import io.railhead.cache.CacheOnlyTerms;
import java.time.Duration;

/** The highest age of a cached response. */
public sealed interface Freshness {

    /** Revalidates each hit, which gives the store's own read-after-write. */
    record Strong() implements Freshness {}

    /** Never revalidates. */
    record Immutable() implements Freshness {}

    /** Revalidates after this age. */
    record Bounded(Duration age) implements Freshness {}

    /**
     * Asks no store at all: the gateway's own index says what there is.
     *
     * @param terms those of each put from now on
     */
    record CacheOnly(CacheOnlyTerms terms) implements Freshness {}

    /** Revalidates after this age; all writes go through this gateway. */
    record Exclusive(Duration age) implements Freshness {}
}
