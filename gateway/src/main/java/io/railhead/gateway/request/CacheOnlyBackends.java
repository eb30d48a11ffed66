package io.railhead.gateway.request;

import io.railhead.backend.Backend;
import io.railhead.gateway.config.Rule;

/** Stands where a store would, for requests under a rule with {@code durability: none}. */
public interface CacheOnlyBackends {

    /** Returns whether a store has a bucket of this name, so that the rule must not be used. */
    boolean isRefused(String bucket);

    /**
     * Returns the backend of one tenant's cache-only objects.
     *
     * @param namespace the place of its names, which it shares with nobody
     * @param tenant the owner of the memory; "" for none
     */
    Backend of(String namespace, String tenant, Rule rule);
}
