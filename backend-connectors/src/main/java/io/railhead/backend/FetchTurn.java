package io.railhead.backend;

/**
 * A fetch's place in the queue, where a store takes no more fetches at a time.
 *
 * @param tenant whom it is for: tenants take turns
 * @param urgency whether somebody waits for it
 */
public record FetchTurn(String tenant, Urgency urgency) {

    public enum Urgency {
        WANTED,
        /** Nobody has asked for it yet. */
        AHEAD
    }

    public static FetchTurn wanted(String tenant) {
        return new FetchTurn(tenant, Urgency.WANTED);
    }

    public static FetchTurn ahead(String tenant) {
        return new FetchTurn(tenant, Urgency.AHEAD);
    }
}
