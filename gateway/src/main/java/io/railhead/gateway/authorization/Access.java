package io.railhead.gateway.authorization;

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

    /**
     * Whether a store, or what stands before it, could take the key for another's: some resolve dot
     * segments as in a path.
     */
    boolean isAmbiguous() {
        return key != null && (key.equals(".") || key.equals("..") || key.startsWith("./")
                || key.startsWith("../") || key.endsWith("/.") || key.endsWith("/..")
                || key.contains("/./") || key.contains("/../"));
    }

    static Access toObject(S3Action action, String bucket, String key) {
        return new Access(action, bucket, key, null, null);
    }
}
