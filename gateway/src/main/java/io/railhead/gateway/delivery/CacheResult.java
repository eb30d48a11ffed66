package io.railhead.gateway.delivery;

import java.util.Locale;

/** The cache's part in a read: {@code x-cache}, and a label in metrics. */
public enum CacheResult {
    /** Every byte was cached, and the store was not asked. */
    HIT,
    /** The object was cached, and the backend confirmed it. */
    REVALIDATED,
    /** The object was cached and not confirmed; a rule allows that while the backend is away. */
    STALE,
    /** Some bytes were fetched for this request. */
    MISS,
    /** The response was relayed from the backend. */
    BYPASS;

    /** Returns whether the response needed no byte of the store. */
    public boolean isHit() {
        return this == HIT || this == REVALIDATED || this == STALE;
    }

    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
