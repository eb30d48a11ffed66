package io.railhead.gateway.s3.sigv4;

import io.railhead.backend.Headers;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads the signature fields from the query of a presigned request. */
final class PresignedQuery {
    static final String ALGORITHM = "X-Amz-Algorithm";
    static final String SIGNATURE = "X-Amz-Signature";
    private static final String CONTENT_SHA256 = "x-amz-content-sha256";
    private static final S3Error MALFORMED = S3Error.AUTHORIZATION_QUERY_PARAMETERS_ERROR;
    private static final long MAX_EXPIRES_SECONDS = 604_800;

    private PresignedQuery() {}

    static SignatureInput parse(Query query, Headers headers, String service) {
        String algorithm = required(query, ALGORITHM);
        if (algorithm.equals("AWS4-ECDSA-P256-SHA256")) {
            throw Authenticator.unsupportedMechanism();
        }
        if (!algorithm.equals(SignatureInput.ALGORITHM)) {
            throw new S3Refusal(MALFORMED,
                    "X-Amz-Algorithm only supports \"" + SignatureInput.ALGORITHM + "\"");
        }
        SignatureInput.Credential who = SignatureInput.Credential.parse(
                required(query, "X-Amz-Credential"), service,
                MALFORMED);
        List<String> names = SignatureInput.signedHeaders(required(query, "X-Amz-SignedHeaders"),
                MALFORMED);
        String signature = SignatureInput.signature(required(query, SIGNATURE), MALFORMED);
        String date = required(query, "X-Amz-Date");
        Instant signedAt = SigningTime.parse(date);
        if (signedAt == null) {
            throw new S3Refusal(MALFORMED,
                    "X-Amz-Date must be in the ISO8601 Long Format \"yyyyMMdd'T'HHmmss'Z'\"");
        }
        SignatureInput.requireSameDay(who.scope(), date, MALFORMED);
        return new SignatureInput(who.accessKeyId(), who.scope(), names, signature, date, signedAt,
                expires(required(query, "X-Amz-Expires")), token(query, headers),
                payload(query, headers), true);
    }

    private static String required(Query query, String name) {
        String value = query.single(name);
        if (value == null) {
            throw new S3Refusal(MALFORMED, "Query-string authentication version 4 requires the"
                    + " X-Amz-Algorithm, X-Amz-Credential, X-Amz-Signature, X-Amz-Date,"
                    + " X-Amz-SignedHeaders, and X-Amz-Expires parameters.");
        }
        return value;
    }

    private static long expires(String text) {
        long seconds;
        try {
            // Long.parseLong accepts a plus sign; S3 does not.
            seconds = Long.parseLong(text.startsWith("+") ? "" : text);
        } catch (NumberFormatException e) {
            throw new S3Refusal(MALFORMED, "X-Amz-Expires should be a number");
        }
        if (seconds < 0) {
            throw new S3Refusal(MALFORMED, "X-Amz-Expires must be non-negative");
        }
        if (seconds > MAX_EXPIRES_SECONDS) {
            throw new S3Refusal(MALFORMED, "X-Amz-Expires must be less than a week (in seconds);"
                    + " that is, the given X-Amz-Expires must be less than "
                    + MAX_EXPIRES_SECONDS + " seconds");
        }
        return seconds;
    }

    private static @Nullable SessionToken token(Query query, Headers headers) {
        String inQuery = query.single("X-Amz-Security-Token");
        String inHeader = headers.get("x-amz-security-token");
        if (inQuery != null && inHeader != null) {
            throw new S3Refusal(MALFORMED, "X-Amz-Security-Token must appear only once.");
        }
        String token = inQuery != null ? inQuery : inHeader;
        return token == null ? null : SessionToken.of(token);
    }

    /**
     * Reads the body's declared hash. The header counts even if it is not among the signed ones:
     * the canonical request ends with its value, as at MinIO, RGW and versitygw.
     */
    private static PayloadSigning payload(Query query, Headers headers) {
        String inQuery = query.single("X-Amz-Content-Sha256");
        String inHeader = headers.get(CONTENT_SHA256);
        if (inQuery != null && inHeader != null && !inQuery.equals(inHeader.strip())) {
            throw new S3Refusal(S3Error.SIGNATURE_DOES_NOT_MATCH);
        }
        String value = inQuery != null ? inQuery : inHeader;
        return value == null
                ? new PayloadSigning.Unsigned()
                : PayloadSigning.parse(value.strip());
    }
}
