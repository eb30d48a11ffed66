package io.railhead.client;

/** What happens to a part that cannot be delivered in the way that was asked for. */
public enum Fallback {
    /** It comes, or goes, over HTTP, and is counted with the reason. */
    HTTP,
    /** It fails with the reason. */
    NONE
}
