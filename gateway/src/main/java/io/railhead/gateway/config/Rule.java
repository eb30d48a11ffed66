package io.railhead.gateway.config;

import java.time.Duration;

/**
 * The resolved rule of a request, with all values filled in.
 *
 * @param backend a key of {@link GatewayConfig#backends}
 * @param rememberAuthorization how long a store's permission is remembered; zero for never
 * @param maxObject larger objects are not cached
 * @param shared whether all principals share one namespace
 * @param staleIfError whether a hit may be served that cannot be revalidated
 * @param verifyFills whether fetched bytes must match the store's checksum
 * @param policyDecides whether the policy file alone decides who may read a hit
 * @param acknowledgesAtDisk whether a write is acknowledged once it is safe on the gateway's disk
 * @param promisedAtNanos since when the freshness holds, on the gateway's clock: objects learnt
 *            before are revalidated once, even by a rule that never revalidates
 */
public record Rule(String backend, Freshness freshness, Duration rememberAuthorization,
        CacheMode cache, boolean rdma, ByteCount maxObject, boolean shared,
        boolean staleIfError, boolean verifyFills, boolean policyDecides,
        boolean acknowledgesAtDisk,
        long promisedAtNanos) {

    /** A rule in force since the start, when nothing had been learnt yet. */
    public Rule(String backend, Freshness freshness, Duration rememberAuthorization,
            CacheMode cache, boolean rdma, ByteCount maxObject, boolean shared,
            boolean staleIfError, boolean verifyFills, boolean policyDecides) {
        this(backend, freshness, rememberAuthorization, cache, rdma, maxObject, shared,
                staleIfError, verifyFills, policyDecides, false, 0);
    }

    /** Returns whether its objects are in no store, but in the gateway's memory alone. */
    public boolean isCacheOnly() {
        return freshness instanceof Freshness.CacheOnly;
    }

    /** Returns a rule under which nothing is served without its backend. */
    public Rule withoutCache() {
        return new Rule(backend, new Freshness.Strong(), rememberAuthorization, CacheMode.OFF,
                false,
                maxObject, shared, staleIfError, verifyFills, policyDecides, acknowledgesAtDisk,
                promisedAtNanos);
    }

    Rule promisedAt(long nanos) {
        return new Rule(backend, freshness, rememberAuthorization, cache, rdma, maxObject, shared,
                staleIfError, verifyFills, policyDecides, acknowledgesAtDisk, nanos);
    }

    Rule acknowledgingAtDisk() {
        return new Rule(backend, freshness, rememberAuthorization, cache, rdma, maxObject, shared,
                staleIfError, verifyFills, policyDecides, true, promisedAtNanos);
    }
}
