package io.railhead.gateway.config;

import java.time.Duration;

/** The highest age of a cached response. */
public sealed interface Freshness {

    /** The store's own read-after-write: each hit is revalidated. */
    record Strong() implements Freshness {}

    /** Never asked again. */
    record Immutable() implements Freshness {}

    /** Stale at most this long. */
    record Bounded(Duration age) implements Freshness {}

    /** All writes go through this gateway; asked again after this long. */
    record Exclusive(Duration age) implements Freshness {}
}
