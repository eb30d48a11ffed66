package io.railhead.cli.reading;

/**
 * What a gateway has used so far.
 *
 * @param requests that it has sent to the store, of every kind
 * @param storeBytes that the store's answers had
 */
record Spent(double cpuSeconds, long requests, long storeBytes) {

    Spent since(Spent before) {
        return new Spent(cpuSeconds - before.cpuSeconds, requests - before.requests,
                storeBytes - before.storeBytes);
    }
}
