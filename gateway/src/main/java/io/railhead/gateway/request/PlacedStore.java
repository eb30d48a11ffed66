package io.railhead.gateway.request;

import io.railhead.backend.Backend;

/**
 * A store and the place of its objects in the cache.
 *
 * @param era distinguishes the store from an earlier one of the same name, whose cached bytes are
 *            not this one's; "" for stores of the start
 */
public record PlacedStore(Backend backend, String era) {

    String namespace(String account) {
        return era.isEmpty() ? account : era + account;
    }
}
