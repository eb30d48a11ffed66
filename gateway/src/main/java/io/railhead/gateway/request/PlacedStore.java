package io.railhead.gateway.request;

import io.railhead.backend.Backend;

/**
 * A store, and where what is held of it stands in the cache.
 *
 * @param era tells a store from another one that had its name before, of which nothing may be
 *            served as this one's; "" for those of the start
 */
public record PlacedStore(Backend backend, String era) {

    String namespace(String account) {
        return era.isEmpty() ? account : era + account;
    }
}
