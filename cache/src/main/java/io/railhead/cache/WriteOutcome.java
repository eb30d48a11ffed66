package io.railhead.cache;

/** The outcome of a forwarded write. */
public enum WriteOutcome {
    /** The backend has responded, and its work is complete. */
    DONE,
    /** The backend refused the write, and nothing changed. */
    REFUSED,
    /** The outcome is unknown, after a timeout or a reset. */
    UNKNOWN
}
