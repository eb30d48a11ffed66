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
                && (this.bucket == null || (bucket != null && globs(this.bucket, bucket)))
                && (prefix == null || (bucket != null && key.startsWith(prefix)));
    }

    boolean isAny() {
        return bucket == null && prefix == null && tenant == null;
    }

    /** Linear except for stars: at a mismatch, only the last star takes one more character. */
    static boolean globs(String glob, String text) {
        int g = 0;
        int t = 0;
        int star = -1;
        int starText = 0;
        while (t < text.length()) {
            if (g < glob.length() && glob.charAt(g) == '*') {
                star = g++;
                starText = t;
            } else if (g < glob.length() && glob.charAt(g) == text.charAt(t)) {
                g++;
                t++;
            } else if (star >= 0) {
                g = star + 1;
                t = ++starText;
            } else {
                return false;
            }
        }
        while (g < glob.length() && glob.charAt(g) == '*') {
            g++;
        }
        return g == glob.length();
    }
}
