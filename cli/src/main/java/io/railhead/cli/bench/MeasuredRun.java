package io.railhead.cli.bench;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The client process's order, one line of JSON: read one object over and over, and measure a part
 * of that time.
 *
 * @param connections to the server; over the native channel, requests under way
 * @param leadSeconds before what is measured
 * @param serverPids whose processor time is the server's
 * @param storePids whose processor time is the store's
 * @param errand what is done once instead, and measured whole; null for reading over and over
 */
record MeasuredRun(Way way, int port, String bucket, long objectBytes, int connections,
        double leadSeconds, double seconds, List<Long> serverPids, List<Long> storePids,
        String accessKey, String secretKey, @Nullable OneShotRequest errand) {

    /** How the object is asked for, and how its bytes come. */
    enum Way {
        UNSIGNED,
        SIGNED,
        TOKEN,
        NATIVE,
        /** Not asked for at all: one thread copies it. */
        COPY
    }

    String key() {
        return BenchObject.key(objectBytes);
    }

    String path() {
        return "/" + bucket + "/" + key();
    }
}
