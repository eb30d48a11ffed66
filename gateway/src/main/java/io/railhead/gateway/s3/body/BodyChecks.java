package io.railhead.gateway.s3.body;

import io.railhead.backend.Headers;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.sigv4.PayloadSigning;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** All checksums that a request declares for its body, computed in one pass. Single-threaded. */
final class BodyChecks {
    private final Map<BodyChecksum, BodyChecksum.Running> running = new EnumMap<>(
            BodyChecksum.class);
    private final Map<BodyChecksum, byte[]> declared = new EnumMap<>(BodyChecksum.class);
    private final Map<String, BodyChecksum> trailers = new HashMap<>();
    private byte @Nullable [] contentSha256;
    /**
     * True if a header's value is no valid checksum: the store then refuses it in its own words.
     */
    private boolean leftToStore;

    /**
     * Expects the hash of the whole body, from the header that S3 demands of chunked uploads too.
     */
    void expectContent(PayloadSigning payload) {
        if (payload instanceof PayloadSigning.Digest(String hex)) {
            contentSha256 = HexFormat.of().parseHex(hex);
            start(BodyChecksum.SHA256);
        }
    }

    void expectMd5(Headers headers) {
        String md5 = headers.get(BodyChecksum.CONTENT_MD5.header());
        if (md5 != null && !expect(BodyChecksum.CONTENT_MD5, md5)) {
            throw new S3Refusal(S3Error.INVALID_DIGEST);
        }
    }

    void expectHeaders(Headers headers) {
        headers.forEach((name, value) -> {
            BodyChecksum checksum = BodyChecksum.named(name.toLowerCase(Locale.ROOT));
            if (checksum != null) {
                requireFirst();
                leftToStore = !expect(checksum, value);
            }
        });
    }

    /** Refuses headers that {@link #expectHeaders} leaves to the store. */
    static void requireVerifiable(Headers headers) {
        headers.forEach((name, value) -> {
            String lower = name.toLowerCase(Locale.ROOT);
            BodyChecksum checksum = BodyChecksum.named(lower);
            boolean unknown = checksum == null && BodyChecksum.isSum(lower);
            if (unknown || (checksum != null && checksum.tryParse(value) == null)) {
                throw new S3Refusal(S3Error.INVALID_REQUEST,
                        "Value for " + lower + " header is invalid.");
            }
        });
    }

    void expectTrailer(String name) {
        BodyChecksum checksum = BodyChecksum.named(name);
        if (checksum == null) {
            throw new S3Refusal(S3Error.INVALID_REQUEST,
                    "The value specified in the x-amz-trailer header is not supported");
        }
        requireFirst();
        trailers.put(name, checksum);
        start(checksum);
    }

    private void requireFirst() {
        if (leftToStore || !trailers.isEmpty()
                || declared.keySet().stream().anyMatch(c -> c != BodyChecksum.CONTENT_MD5)) {
            throw new S3Refusal(S3Error.INVALID_REQUEST,
                    "Expecting a single x-amz-checksum- header. Multiple checksum Types are not"
                            + " allowed.");
        }
    }

    /** Returns false if the value is no possible checksum. */
    private boolean expect(BodyChecksum checksum, String value) {
        byte[] sum = checksum.tryParse(value);
        if (sum == null) {
            return false;
        }
        declared.put(checksum, sum);
        start(checksum);
        return true;
    }

    private void start(BodyChecksum checksum) {
        running.computeIfAbsent(checksum, BodyChecksum::start);
    }

    void add(ByteBuffer bytes) {
        running.values().forEach(sum -> sum.add(bytes));
    }

    /** Throws unless every declared checksum matches. */
    void verify(Map<String, String> trailerValues) {
        trailers.forEach((name, checksum) -> {
            String value = trailerValues.get(name);
            if (value == null) {
                throw new S3Refusal(S3Error.MALFORMED_TRAILER);
            }
            if (!expect(checksum, value)) {
                throw new S3Refusal(S3Error.INVALID_REQUEST,
                        "Value for " + name + " trailing header is invalid.");
            }
        });
        running.forEach(this::verify);
    }

    private void verify(BodyChecksum checksum, BodyChecksum.Running sum) {
        byte[] actual = sum.finish();
        byte[] content = contentSha256;
        if (checksum == BodyChecksum.SHA256 && content != null
                && !MessageDigest.isEqual(actual, content)) {
            throw new S3Refusal(S3Error.CONTENT_SHA256_MISMATCH);
        }
        byte[] expected = declared.get(checksum);
        if (expected != null && !MessageDigest.isEqual(actual, expected)) {
            throw checksum.mismatch();
        }
    }
}
