package io.railhead.benchmarks.peers;

import com.fasterxml.jackson.databind.PropertyNamingStrategies.SnakeCaseStrategy;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import java.nio.file.Path;

/**
 * The harness's order for one turn, one line of JSON.
 *
 * @param host the gateway's, with its port
 * @param bytes of the object
 * @param connections to the gateway; over the native channel, requests under way
 * @param leadSeconds of load before the measured time
 * @param seconds of the measured time
 * @param content file with the object's bytes
 * @param pieces that an object is written in; 1 for one PUT
 * @param upload of which the pieces are parts; empty for one PUT
 */
@JsonNaming(SnakeCaseStrategy.class)
record Order(Way way, String host, String bucket, String key, long bytes, int connections,
        double leadSeconds, double seconds, Path content, String accessKey, String secretKey,
        int pieces, String upload) {
    /** The request, and the path of the bytes. */
    enum Way {
        /** GETs over HTTP, delivered into memory that a token names. */
        TOKEN,
        /** GETs over the native channel. */
        NATIVE,
        /** No request: one thread copies the object. */
        COPY,
        /** One object written out of memory that tokens name, once. */
        WRITE
    }

    String path() {
        return "/" + bucket + "/" + key;
    }

    /** Bytes of a window, which is as large as one request's body. */
    long windowBytes() {
        return way == Way.WRITE ? Math.ceilDiv(bytes, pieces) : bytes;
    }

    SigV4 signer() {
        return SigV4.now(accessKey, secretKey, host);
    }
}
