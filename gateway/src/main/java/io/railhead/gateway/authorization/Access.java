package io.railhead.gateway.authorization;

import io.railhead.gateway.request.KeyReadings;
import org.jspecify.annotations.Nullable;

/**
 * One thing asked of one resource.
 *
 * @param bucket "" for the service itself
 * @param key decoded; null for the bucket itself
 * @param prefix of a listing; null where none is given
 * @param delimiter of a listing; null where none is given
 */
public record Access(S3Action action, String bucket, @Nullable String key, @Nullable String prefix,
        @Nullable String delimiter) {

    /** Whether its key could mean so many others that none of them is judged. */
    boolean isAmbiguous() {
        return key != null && KeyReadings.hasDotSegment(key);
    }

    /** What it is at a store to which an empty segment of a key is none; null where it has none. */
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
