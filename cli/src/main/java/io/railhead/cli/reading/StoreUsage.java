package io.railhead.cli.reading;

/**
 * The requests and bytes that a gateway has taken from the store so far.
 *
 * @param requests that it has sent, of every kind
 * @param storeBytes that the store's answers had
 */
record StoreUsage(long requests, long storeBytes) {

    StoreUsage since(StoreUsage before) {
        return new StoreUsage(requests - before.requests, storeBytes - before.storeBytes);
    }
}
