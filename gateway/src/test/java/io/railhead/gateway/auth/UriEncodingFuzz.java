package io.railhead.gateway.auth;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;

/** Paths and queries: refused, or given one spelling that means the same and stays itself. */
public final class UriEncodingFuzz {

    private UriEncodingFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        String raw = new String(input, ISO_8859_1);
        try {
            String path = UriEncoding.path(raw);
            require(UriEncoding.path(path).equals(path));
            String part = UriEncoding.queryPart(raw);
            require(UriEncoding.queryPart(part).equals(part));
            require(UriEncoding.decodeQueryPart(part).equals(UriEncoding.decodeQueryPart(raw)));
            QueryParameters query = QueryParameters.parse(raw);
            for (String canonical : query.canonical()) {
                require(QueryParameters.parse(canonical).canonical().contains(canonical));
            }
        } catch (S3Refusal e) {
            require(e.error() == S3Error.INVALID_URI);
        }
    }

    private static void require(boolean kept) {
        if (!kept) {
            throw new AssertionError();
        }
    }
}
