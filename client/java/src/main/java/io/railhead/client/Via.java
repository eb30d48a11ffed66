package io.railhead.client;

import java.util.Locale;

/** The transport of an object's bytes to this process. */
public enum Via {
    /** In the body of an HTTP response: any S3 store. */
    HTTP,
    /**
     * One-sided into shared memory of this host, requested over HTTP with a token for each part, as
     * clients do that speak HTTP only.
     */
    TOKEN,
    /** One-sided into shared memory of this host, requested on a channel. */
    LOOPBACK,
    /** One-sided by an RDMA adapter, requested on a channel. */
    VERBS;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
