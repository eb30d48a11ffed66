package io.railhead.gateway.config;

import java.time.Duration;

/**
 * The resolved rule of a request, all values filled in.
 *
 * @param backend a key of {@link GatewayConfig#backends}
 * @param rememberAuthorization how long the store's yes is remembered; zero asks each time
 * @param maxObject larger objects are not cached
 * @param shared whether one namespace holds for all principals
 * @param staleIfError whether a hit that cannot be revalidated may be served
 * @param verifyFills whether what is fetched must come to the store's checksum
 * @param policyDecides whether the policy file alone says who may read a hit
 * @param promisedAtNanos since when the freshness holds, by the gateway's clock: what was learnt
 *            before is asked for once more where the rule asks no more afterwards
 */
public record Rule(String backend, Freshness freshness, Duration rememberAuthorization,
        CacheMode cache, boolean rdma, ByteCount maxObject, boolean shared,
        boolean staleIfError, boolean verifyFills, boolean policyDecides, long promisedAtNanos) {

    /** One that holds from the start, when nothing has been learnt yet. */
    public Rule(String backend, Freshness freshness, Duration rememberAuthorization,
            CacheMode cache, boolean rdma, ByteCount maxObject, boolean shared,
            boolean staleIfError, boolean verifyFills, boolean policyDecides) {
        this(backend, freshness, rememberAuthorization, cache, rdma, maxObject, shared,
                staleIfError, verifyFills, policyDecides, 0);
    }

    Rule promisedAt(long nanos) {
        return new Rule(backend, freshness, rememberAuthorization, cache, rdma, maxObject, shared,
                staleIfError, verifyFills, policyDecides, nanos);
    }
}
