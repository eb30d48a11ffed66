package io.railhead.gateway.auth;

import io.railhead.backend.Headers;
import io.railhead.backend.RedactedQuery;
import org.jspecify.annotations.Nullable;

/**
 * What a signature covers, byte for byte as received.
 *
 * @param rawPath percent-encoded, with its leading slash; each char is one byte
 * @param rawQuery without the question mark; null if there is none
 * @param headers with {@code Host}, also where the protocol has an authority instead
 */
public record RequestHead(String method, String rawPath, @Nullable String rawQuery,
        Headers headers) {

    /** Without what signed it. */
    @Override
    public String toString() {
        return "RequestHead[" + method + ' ' + rawPath + '?' + RedactedQuery.of(rawQuery) + ' '
                + headers + "]";
    }
}
