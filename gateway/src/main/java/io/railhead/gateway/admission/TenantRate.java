package io.railhead.gateway.admission;

import io.railhead.backend.TokenBucket;
import org.jspecify.annotations.Nullable;

/**
 * The rate limits of one tenant. Any thread.
 *
 * @param requests null for no limit
 * @param bytes of bodies in both directions; null for no limit
 */
record TenantRate(@Nullable TokenBucket requests, @Nullable TokenBucket bytes) {
    static final String REQUESTS = "requests";
    static final String BYTES = "bytes";

    /** Takes one request; returns the limit in its way, or null if there is none. */
    @Nullable
    String tryTake() {
        if (bytes != null && !bytes.hasTokens()) {
            return BYTES;
        }
        return requests == null || requests.tryTake() ? null : REQUESTS;
    }

    /** Takes the bytes of a body that is let through. */
    void charge(long moved) {
        if (bytes != null && moved > 0) {
            bytes.charge(moved);
        }
    }

    long retrySeconds(String limit) {
        TokenBucket empty = limit.equals(BYTES) ? bytes : requests;
        return empty == null ? 1 : empty.retrySeconds();
    }

    boolean isFull() {
        return (requests == null || requests.isFull()) && (bytes == null || bytes.isFull());
    }
}
