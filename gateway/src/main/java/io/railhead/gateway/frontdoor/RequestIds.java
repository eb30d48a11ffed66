package io.railhead.gateway.frontdoor;

import java.util.concurrent.ThreadLocalRandom;

/** Names of requests, as S3's are: 16 hex digits. */
public final class RequestIds {

    private RequestIds() {}

    public static String next() {
        return String.format("%016X", ThreadLocalRandom.current().nextLong());
    }
}
