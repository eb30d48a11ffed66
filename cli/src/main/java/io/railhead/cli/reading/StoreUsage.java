package io.railhead.cli.reading;

/**
 * The requests and bytes that a gateway has taken from the store so far.
 *
 * @param requests the requests sent, of every kind
 * @param storeBytes the bytes of the store's responses
 */
record StoreUsage(long requests, long storeBytes) {

    StoreUsage since(StoreUsage before) {
        return new StoreUsage(requests - before.requests, storeBytes - before.storeBytes);
    }
}
