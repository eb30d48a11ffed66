package io.railhead.backend;

/**
 * A fetch's place in the queue of a store that takes no more fetches at a time.
 *
 * @param tenant the tenant of the fetch: tenants take turns
 * @param urgency whether a request waits for it
 */
public record FetchTurn(String tenant, Urgency urgency) {

    public enum Urgency {
        WANTED,
        /** A prefetch that no request waits for yet. */
        AHEAD
    }

    public static FetchTurn wanted(String tenant) {
        return new FetchTurn(tenant, Urgency.WANTED);
    }

    public static FetchTurn ahead(String tenant) {
        return new FetchTurn(tenant, Urgency.AHEAD);
    }
}
