package io.railhead.cache;

import java.time.Duration;

/**
 * The terms on which a cache-only object is kept.
 *
 * @param life after which the object is gone; zero for never
 * @param mayGoToDisk whether it goes to the disk tier, if there is one, rather than being evicted
 *            for room
 */
public record CacheOnlyTerms(Duration life, boolean mayGoToDisk) {}
