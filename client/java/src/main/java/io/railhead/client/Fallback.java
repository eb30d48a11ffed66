package io.railhead.client;

/** The fallback of a part that cannot be delivered in the requested way. */
public enum Fallback {
    /** It comes, or goes, over HTTP, and is counted with the reason. */
    HTTP,
    /** It fails with the reason. */
    NONE
}
