package io.railhead.gateway.s3.body;

import io.railhead.backend.Headers;
import java.security.MessageDigest;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Removes checksums of an empty HTTP body. SDKs declare one for each request by default. If the
 * object's bytes come from memory, that checksum covers no byte of the object.
 */
public final class EmptyBodySums {
    private static final Set<String> OF_CHUNKS = Set.of("x-amz-trailer",
            "x-amz-decoded-content-length");
    /** Stores refuse an algorithm without its checksum. */
    private static final Set<String> ALGORITHM = Set.of("x-amz-checksum-algorithm",
            "x-amz-sdk-checksum-algorithm");

    private EmptyBodySums() {}

    /** Returns the headers that describe the object, without those of an empty HTTP body. */
    public static Headers strip(Headers headers) {
        boolean[] hasSum = new boolean[1];
        headers.forEach((name, value) -> hasSum[0] |= isOfObject(named(name), value));
        Headers.Builder kept = Headers.builder();
        headers.forEach((name, value) -> {
            String lower = name.toLowerCase(Locale.ROOT);
            BodyChecksum checksum = named(name);
            boolean isDropped = OF_CHUNKS.contains(lower)
                    || (ALGORITHM.contains(lower) && !hasSum[0])
                    || (checksum != null && isOfNothing(checksum, value));
            if (!isDropped) {
                kept.add(name, value);
            }
        });
        return kept.build();
    }

    private static @Nullable BodyChecksum named(String header) {
        String lower = header.toLowerCase(Locale.ROOT);
        return lower.equals(BodyChecksum.CONTENT_MD5.header())
                ? BodyChecksum.CONTENT_MD5
                : BodyChecksum.named(lower);
    }

    private static boolean isOfObject(@Nullable BodyChecksum checksum, String value) {
        return checksum != null && checksum != BodyChecksum.CONTENT_MD5
                && !isOfNothing(checksum, value);
    }

    private static boolean isOfNothing(BodyChecksum checksum, String value) {
        byte[] sum = checksum.tryParse(value);
        return sum != null && MessageDigest.isEqual(sum, checksum.start().finish());
    }
}
