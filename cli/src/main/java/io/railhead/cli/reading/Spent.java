package io.railhead.cli.reading;

/**
 * What a gateway has asked of the store so far.
 *
 * @param requests that it has sent, of every kind
 * @param storeBytes that the store's answers had
 */
record Spent(long requests, long storeBytes) {

    Spent since(Spent before) {
        return new Spent(requests - before.requests, storeBytes - before.storeBytes);
    }
}
