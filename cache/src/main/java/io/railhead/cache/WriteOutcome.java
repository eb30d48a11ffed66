package io.railhead.cache;

/** The outcome of a forwarded write. */
public enum WriteOutcome {
    /** The backend has answered, and what it did is done. */
    DONE,
    /** The backend said it was refused and nothing changed. */
    REFUSED,
    /** Nobody knows: a timeout, a reset. */
    UNKNOWN
}
