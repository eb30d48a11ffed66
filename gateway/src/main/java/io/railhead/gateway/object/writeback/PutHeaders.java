package io.railhead.gateway.object.writeback;

import io.railhead.backend.Headers;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.body.BodyReader;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Decides which headers of an upload mean the same later as now. Whatever is not known to do so is
 * left to the store.
 */
final class PutHeaders {
    static final String ACKNOWLEDGED = "x-railhead-acknowledged";
    private static final String META = "x-amz-meta-";
    static final String CHECKSUM = "x-amz-checksum-";
    static final String COPY_SOURCE = "x-amz-copy-source";
    private static final String ALGORITHM = CHECKSUM + "algorithm";
    private static final String TYPE = CHECKSUM + "type";
    private static final String COMPOSITE = "COMPOSITE";
    private static final String SIZE = "x-amz-mp-object-size";
    /** S3's bound of all metadata of a user; some stores count the names' prefix, too. */
    private static final int MOST_META_BYTES = 2048;
    /** S3 takes 8 KiB of headers, among them those that signing adds. */
    private static final int MOST_BYTES = 4096;
    private static final Set<String> KEPT = Set.of("content-type", "cache-control",
            "content-disposition", "content-encoding", "content-language", "expires");
    /** Headers that change nothing of the object. */
    private static final Set<String> OF_THE_REQUEST = Set.of("x-amz-sdk-checksum-algorithm",
            "x-amz-user-agent", "x-amz-content-sha256", "x-amz-date", "x-amz-trailer",
            "x-amz-decoded-content-length", "x-amzn-trace-id", "x-request-id");
    private static final Set<String> NO_SUMS = Set.of(CHECKSUM + "algorithm", CHECKSUM + "mode",
            CHECKSUM + "type");
    /** Checksums that every store knows. */
    private static final Set<String> KNOWN_SUMS = Set.of(CHECKSUM + "crc32", CHECKSUM + "crc32c",
            CHECKSUM + "sha1", CHECKSUM + "sha256");

    private PutHeaders() {}

    static boolean isSum(String lower) {
        return lower.startsWith(CHECKSUM) && !NO_SUMS.contains(lower);
    }

    /**
     * Returns the headers to keep; null if the store must judge the request itself.
     *
     * @param trailers the names of the body's trailers
     */
    static @Nullable Map<String, String> tryKeep(Headers headers, Set<String> trailers) {
        Map<String, String> kept = new TreeMap<>();
        int[] meta = {0};
        int[] all = {0};
        boolean[] isKnown = {true};
        headers.forEach((name, value) -> {
            String lower = name.toLowerCase(Locale.ROOT);
            if (isSum(lower)) {
                // The gateway must have verified it, and no store may refuse it later.
                isKnown[0] &= KNOWN_SUMS.contains(lower) && BodyReader.isSum(lower, value)
                        && kept.put(lower, value) == null;
            } else if (lower.startsWith(META) || KEPT.contains(lower)) {
                isKnown[0] &= kept.put(lower, value) == null;
                int length = bytes(lower) + bytes(value);
                all[0] += length;
                meta[0] += lower.startsWith(META) ? length : 0;
            } else if (isJudgedByTheStore(lower)) {
                isKnown[0] = false;
            }
        });
        boolean areSums = trailers.stream()
                .allMatch(name -> KNOWN_SUMS.contains(name.toLowerCase(Locale.ROOT)));
        return isKnown[0] && areSums && meta[0] <= MOST_META_BYTES && all[0] <= MOST_BYTES
                ? kept
                : null;
    }

    /** Returns the headers to keep of a multipart upload's beginning; null as above. */
    static @Nullable Map<String, String> tryKeepUpload(Headers headers) {
        String algorithm = headers.get(ALGORITHM);
        String type = headers.get(TYPE);
        boolean isKnown = algorithm == null
                ? type == null
                : algorithm.equals(algorithm.toUpperCase(Locale.ROOT))
                        && KNOWN_SUMS.contains(sumHeader(algorithm))
                        && (type == null || type.equals(COMPOSITE));
        Headers.Builder others = Headers.builder();
        headers.forEach((name, value) -> {
            if (!name.equalsIgnoreCase(ALGORITHM) && !name.equalsIgnoreCase(TYPE)) {
                others.add(name, value);
            }
        });
        Map<String, String> kept = isKnown ? tryKeep(others.build(), Set.of()) : null;
        if (kept == null || kept.keySet().stream().anyMatch(PutHeaders::isSum)) {
            return null;
        }
        if (algorithm != null) {
            kept.put(ALGORITHM, algorithm);
        }
        return kept;
    }

    private static String sumHeader(String algorithm) {
        return CHECKSUM + algorithm.toLowerCase(Locale.ROOT);
    }

    /** Returns the checksum that each part of an upload with these headers has; null for none. */
    static @Nullable String sumHeader(Map<String, String> kept) {
        String algorithm = kept.get(ALGORITHM);
        return algorithm == null ? null : sumHeader(algorithm);
    }

    /** Returns the headers of an object; the algorithm is its upload's. */
    static Map<String, String> ofObject(Map<String, String> kept) {
        Map<String, String> headers = new TreeMap<>(kept);
        headers.remove(ALGORITHM);
        return headers;
    }

    /**
     * Returns the checksums of a part, which the gateway verifies. Throws {@code S3Refusal} for a
     * header that only a store can judge.
     */
    static Map<String, String> requirePart(Headers headers, Set<String> trailers) {
        Map<String, String> sums = new TreeMap<>();
        headers.forEach((name, value) -> {
            String lower = name.toLowerCase(Locale.ROOT);
            if (KNOWN_SUMS.contains(lower)) {
                if (!BodyReader.isSum(lower, value)) {
                    throw new S3Refusal(S3Error.INVALID_DIGEST);
                }
                sums.put(lower, value);
            } else if (isJudgedByTheStore(lower)) {
                throw unknown(name);
            }
        });
        for (String trailer : trailers) {
            if (!KNOWN_SUMS.contains(trailer.toLowerCase(Locale.ROOT))) {
                throw unknown(trailer);
            }
        }
        return sums;
    }

    private static S3Refusal unknown(String header) {
        return new S3Refusal(S3Error.NOT_IMPLEMENTED, header + " is not possible for an upload that"
                + " is acknowledged at the gateway's disk.");
    }

    /** Throws {@code S3Refusal} if a completion has a header that only a store can judge. */
    static void requireCompletion(Headers headers) {
        headers.forEach((name, value) -> {
            String lower = name.toLowerCase(Locale.ROOT);
            boolean isComposite = lower.equals(TYPE) && value.equals(COMPOSITE);
            if (!isComposite && !lower.equals(SIZE) && !KNOWN_SUMS.contains(lower)
                    && isJudgedByTheStore(lower)) {
                throw unknown(name);
            }
        });
    }

    /**
     * Throws {@code S3Refusal} if a completion declares another object.
     *
     * @param kept the object's headers
     */
    static void requireSame(Headers headers, Map<String, String> kept, long sizeBytes) {
        String size = headers.get(SIZE);
        if (size != null && !size.equals(Long.toString(sizeBytes))) {
            throw new S3Refusal(S3Error.INVALID_REQUEST, "The parts have " + sizeBytes
                    + " bytes, and " + SIZE + " says " + size + ".");
        }
        for (String name : KNOWN_SUMS) {
            String declared = headers.get(name);
            if (declared != null && !declared.equals(kept.get(name))) {
                throw new S3Refusal(S3Error.BAD_DIGEST);
            }
        }
    }

    /** Returns a text's length as S3 counts it. */
    static int bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }

    /** Conditions, encryption, rights, tags, locks, and every header that some store invented. */
    private static boolean isJudgedByTheStore(String lower) {
        return lower.startsWith("if-") || (lower.startsWith("x-")
                && !OF_THE_REQUEST.contains(lower) && !lower.startsWith("x-forwarded-"));
    }
}
