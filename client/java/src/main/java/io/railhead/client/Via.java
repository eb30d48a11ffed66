package io.railhead.client;

import java.util.Locale;

/** How an object's bytes reach this process. */
public enum Via {
    /** In the body of an HTTP answer: any S3 store. */
    HTTP,
    /** One-sided, into shared memory of this host: a gateway on the same machine. */
    LOOPBACK;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
