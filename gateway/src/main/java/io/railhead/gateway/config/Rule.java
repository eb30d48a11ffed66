package io.railhead.gateway.config;

import java.time.Duration;

/**
 * What holds for a request, all values resolved.
 *
 * @param backend a key of {@link GatewayConfig#backends}
 * @param rememberAuthorization how long the store's yes is remembered; zero asks each time
 * @param maxObject larger objects are not cached
 * @param shared whether one namespace holds for all principals
 * @param staleIfError whether a hit that cannot be revalidated may be served
 * @param verifyFills whether what is fetched must come to the store's checksum
 * @param policyDecides whether the policy file alone says who may read a hit
 */
public record Rule(String backend, Freshness freshness, Duration rememberAuthorization,
        CacheMode cache, boolean rdma, ByteCount maxObject, boolean shared,
        boolean staleIfError, boolean verifyFills, boolean policyDecides) {}
