package io.railhead.gateway.s3.sigv4;

import io.railhead.backend.Headers;
import io.railhead.backend.RedactedQuery;
import org.jspecify.annotations.Nullable;

/**
 * The signed head of a request, byte for byte as received.
 *
 * @param rawPath percent-encoded, with its leading slash; each char is one byte
 * @param rawQuery without the question mark; null if there is none
 * @param headers with {@code Host}, also if the protocol carries an authority instead
 * @param hostField another {@code Host} that came beside the authority and names the same bucket: a
 *            client may have signed either; null if there is none
 */
public record RequestHead(String method, String rawPath, @Nullable String rawQuery,
        Headers headers, @Nullable String hostField) {

    public RequestHead(String method, String rawPath, @Nullable String rawQuery, Headers headers) {
        this(method, rawPath, rawQuery, headers, null);
    }

    /** Returns the same head with another method. */
    public RequestHead withMethod(String other) {
        return new RequestHead(other, rawPath, rawQuery, headers, hostField);
    }

    /** Omits the signature. */
    @Override
    public String toString() {
        return "RequestHead[" + method + ' ' + rawPath + '?' + RedactedQuery.of(rawQuery) + ' '
                + headers + "]";
    }
}
