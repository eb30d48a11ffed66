package io.railhead.client;

/** The reaction to a part that cannot be delivered in the requested way. */
public enum Fallback {
    /** Uses HTTP, and counts the part by the reason. */
    HTTP,
    /** Fails with the reason. */
    NONE
}
