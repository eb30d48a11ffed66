package io.railhead.client;

import java.util.Locale;

/** The transport that brings an object's bytes to this process. */
public enum Via {
    /** In the body of an HTTP answer: any S3 store. */
    HTTP,
    /**
     * One-sided, into shared memory of this host, asked for over HTTP with a token for each part:
     * how clients work that know HTTP alone.
     */
    TOKEN,
    /** One-sided, into shared memory of this host, asked for on a channel beside it. */
    LOOPBACK,
    /** One-sided, by an RDMA adapter, asked for on a channel of its own. */
    VERBS;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
