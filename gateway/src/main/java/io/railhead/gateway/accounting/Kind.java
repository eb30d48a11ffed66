package io.railhead.gateway.accounting;

/** The kinds of requests that stores price differently. */
public enum Kind {
    /** GET and HEAD of an object. */
    READ,
    /** PUT, POST and lists. */
    WRITE,
    /** Deletions, and preflights. */
    FREE;

    public static Kind of(String method, boolean namesObject) {
        return switch (method) {
            case "GET", "HEAD" -> namesObject ? READ : WRITE;
            case "PUT", "POST" -> WRITE;
            default -> FREE;
        };
    }
}
