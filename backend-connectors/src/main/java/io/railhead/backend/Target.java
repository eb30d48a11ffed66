package io.railhead.backend;

import org.jspecify.annotations.Nullable;

/**
 * The target of a request, byte for byte as the client sent it.
 *
 * @param bucket null for the service itself (ListBuckets)
 * @param rawKey the key's percent-encoded path without the leading slash; "" for the bucket itself
 * @param rawQuery without the question mark, signing parameters removed; null if there is none
 */
public record Target(@Nullable String bucket, String rawKey, @Nullable String rawQuery) {

    /** Omits the signature. */
    @Override
    public String toString() {
        return "Target[" + bucket + ", " + rawKey + ", " + RedactedQuery.of(rawQuery) + "]";
    }
}
