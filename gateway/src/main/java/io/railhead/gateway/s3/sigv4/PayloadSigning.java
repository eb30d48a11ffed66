package io.railhead.gateway.s3.sigv4;

import io.railhead.gateway.s3.Digests;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.protocol.token.Hex;
import java.util.HexFormat;

/** The framing and the signed part of a request's body: {@code x-amz-content-sha256}. */
public sealed interface PayloadSigning {
    String UNSIGNED = "UNSIGNED-PAYLOAD";
    String SIGNED_CHUNKS = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD";
    String SIGNED_CHUNKS_AND_TRAILER = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER";
    String UNSIGNED_CHUNKS_AND_TRAILER = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";

    /** Unframed bytes with this SHA-256 in lower-case hex. */
    record Digest(String hex) implements PayloadSigning {
        /** The digest of an empty body, for requests whose bytes come from memory. */
        public static final Digest EMPTY = new Digest(
                HexFormat.of().formatHex(Digests.sha256().digest()));
    }

    /** Unframed bytes without a digest. */
    record Unsigned() implements PayloadSigning {}

    /** aws-chunked, each chunk signed. */
    record SignedChunks(boolean trailer) implements PayloadSigning {}

    /** aws-chunked with a trailer, and without chunk signatures. */
    record UnsignedChunks() implements PayloadSigning {}

    /** Returns the header's value in the canonical request. */
    default String headerValue() {
        return switch (this) {
            case Digest(String hex) -> hex;
            case Unsigned() -> UNSIGNED;
            case SignedChunks(boolean trailer) -> trailer
                    ? SIGNED_CHUNKS_AND_TRAILER
                    : SIGNED_CHUNKS;
            case UnsignedChunks() -> UNSIGNED_CHUNKS_AND_TRAILER;
        };
    }

    /** Parses the header's value. */
    static PayloadSigning parse(String value) {
        return switch (value) {
            case UNSIGNED -> new Unsigned();
            case SIGNED_CHUNKS -> new SignedChunks(false);
            case SIGNED_CHUNKS_AND_TRAILER -> new SignedChunks(true);
            case UNSIGNED_CHUNKS_AND_TRAILER -> new UnsignedChunks();
            default -> parseDigest(value);
        };
    }

    private static PayloadSigning parseDigest(String value) {
        if (value.startsWith("STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD")) {
            throw new S3Refusal(S3Error.INVALID_REQUEST,
                    "Chunks signed with AWS4-ECDSA-P256-SHA256 are not supported."
                            + " Please use AWS4-HMAC-SHA256.");
        }
        if (value.equals(Digest.EMPTY.hex)) {
            return Digest.EMPTY;
        }
        if (!Hex.isSha256(value)) {
            throw new S3Refusal(S3Error.INVALID_ARGUMENT,
                    "x-amz-content-sha256 must be " + UNSIGNED + ", " + UNSIGNED_CHUNKS_AND_TRAILER
                            + ", " + SIGNED_CHUNKS + ", " + SIGNED_CHUNKS_AND_TRAILER
                            + " or a valid sha256 value.");
        }
        return new Digest(value);
    }
}
