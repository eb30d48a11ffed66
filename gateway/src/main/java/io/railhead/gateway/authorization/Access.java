package io.railhead.gateway.authorization;

import io.railhead.gateway.request.KeyReadings;
import org.jspecify.annotations.Nullable;

/**
 * One action on one resource, which a policy is asked about.
 *
 * @param bucket "" for the service itself
 * @param key decoded; null for the bucket itself
 * @param prefix of a listing; null if none is given
 * @param delimiter of a listing; null if none is given
 */
public record Access(S3Action action, String bucket, @Nullable String key, @Nullable String prefix,
        @Nullable String delimiter) {
    /** S3's bound in bytes; no character has less than one. */
    private static final int MAX_KEY = 1024;

    /** Returns whether stores could read the key as so many others that no policy can decide. */
    boolean isAmbiguous() {
        return key != null && KeyReadings.hasDotSegment(key);
    }

    /** Returns whether the key is longer than S3 allows: no policy is matched with it. */
    boolean isTooLong() {
        return key != null && key.length() > MAX_KEY;
    }

    /**
     * Returns the access that a store sees which drops empty segments of keys; null if the key has
     * none.
     */
    @Nullable
    Access asPath() {
        return key == null || !KeyReadings.hasEmptySegment(key)
                ? null
                : new Access(action, bucket, KeyReadings.withoutEmptySegments(key), prefix,
                        delimiter);
    }

    static Access toObject(S3Action action, String bucket, String key) {
        return new Access(action, bucket, key, null, null);
    }
}
