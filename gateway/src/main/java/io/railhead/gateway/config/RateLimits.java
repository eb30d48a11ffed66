package io.railhead.gateway.config;

import io.railhead.backend.Rate;
import java.util.Map;

/**
 * The configured rate limits of tenants.
 *
 * @param other the limit of each tenant that has none of its own
 */
public record RateLimits(Rate other, Map<String, Rate> tenants) {
    public static final RateLimits NONE = new RateLimits(Rate.NONE, Map.of());

    public RateLimits {
        tenants = Map.copyOf(tenants);
    }

    /** Returns the limit of one tenant. */
    public Rate of(String tenant) {
        return tenants.getOrDefault(tenant, other);
    }
}
