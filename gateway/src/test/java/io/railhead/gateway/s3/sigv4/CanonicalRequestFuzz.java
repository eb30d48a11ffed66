package io.railhead.gateway.s3.sigv4;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.railhead.backend.PercentCodec;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;

/** Paths and queries: refused, or given one spelling that means the same and stays itself. */
public final class CanonicalRequestFuzz {

    private CanonicalRequestFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        String raw = new String(input, ISO_8859_1);
        try {
            String path = CanonicalRequest.path(raw);
            require(CanonicalRequest.path(path).equals(path));
            String part = PercentCodec.canonicalQueryPart(raw);
            require(PercentCodec.canonicalQueryPart(part).equals(part));
            require(PercentCodec.decodeBytes(part)
                    .equals(PercentCodec.decodeBytes(PercentCodec.ascii(raw.replace('+', ' ')))));
            for (String canonical : CanonicalRequest.queries(Query.require(raw))) {
                require(CanonicalRequest.queries(Query.require(canonical)).contains(canonical));
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
