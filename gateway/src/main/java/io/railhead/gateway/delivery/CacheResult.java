package io.railhead.gateway.delivery;

import java.util.Locale;

/** The cache's part in a read: {@code x-cache}, and a label in metrics. */
public enum CacheResult {
    /** Everything was held, and nobody was asked. */
    HIT,
    /** It was held, and the backend said that it still holds. */
    REVALIDATED,
    /** Held, not confirmed, and served because a rule allows that while the backend is away. */
    STALE,
    /** Some of it had to be fetched for this request. */
    MISS,
    /** Passed on from the backend. */
    BYPASS;

    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
