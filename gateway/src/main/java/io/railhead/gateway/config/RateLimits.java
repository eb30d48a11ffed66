package io.railhead.gateway.config;

import java.util.Map;

/**
 * The configured rate limits of tenants.
 *
 * @param other the limit of each tenant that has none of its own
 */
public record RateLimits(Rate other, Map<String, Rate> tenants) {
    public static final RateLimits NONE = new RateLimits(Rate.NONE, Map.of());

    /**
     * The most of one tenant in a second; 0 for no limit.
     *
     * @param bytes of bodies in both directions
     */
    public record Rate(long requests, long bytes) {
        public static final Rate NONE = new Rate(0, 0);

        public Rate {
            if (requests < 0 || bytes < 0) {
                throw new IllegalArgumentException(
                        "requests and bytes must be >= 0: " + requests + ", " + bytes);
            }
        }
    }

    public RateLimits {
        tenants = Map.copyOf(tenants);
    }

    /** Returns the limit of one tenant. */
    public Rate of(String tenant) {
        return tenants.getOrDefault(tenant, other);
    }
}
