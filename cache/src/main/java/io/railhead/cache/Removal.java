package io.railhead.cache;

/** The end of a cache-only object. */
public record Removal(String key, Reason reason) {

    /** The reason of an end. */
    public enum Reason {
        DELETED,
        /** The object made room, or an operator evicted it. */
        EVICTED,
        EXPIRED
    }
}
