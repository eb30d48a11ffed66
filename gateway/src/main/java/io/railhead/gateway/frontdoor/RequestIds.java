package io.railhead.gateway.frontdoor;

import java.util.HexFormat;
import java.util.concurrent.ThreadLocalRandom;

/** Request ids in S3's format: 16 hex digits. */
public final class RequestIds {
    private static final HexFormat UPPER_CASE = HexFormat.of().withUpperCase();

    private RequestIds() {}

    public static String next() {
        return UPPER_CASE.toHexDigits(ThreadLocalRandom.current().nextLong());
    }
}
