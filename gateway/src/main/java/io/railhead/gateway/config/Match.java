package io.railhead.gateway.config;

import org.jspecify.annotations.Nullable;

/**
 * A rule's condition; null matches anything.
 *
 * @param bucket a glob, in which a star matches any characters
 */
record Match(@Nullable String bucket, @Nullable String prefix, @Nullable String tenant) {

    /**
     * Returns whether a request matches. One without a bucket matches only conditions without one.
     */
    boolean test(String tenant, @Nullable String bucket, String key) {
        return (this.tenant == null || this.tenant.equals(tenant))
                && (this.bucket == null || (bucket != null && Globs.matches(this.bucket, bucket)))
                && (prefix == null || (bucket != null && key.startsWith(prefix)));
    }

    boolean isAny() {
        return bucket == null && prefix == null && tenant == null;
    }
}
