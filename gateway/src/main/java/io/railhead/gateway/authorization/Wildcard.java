package io.railhead.gateway.authorization;

import org.jspecify.annotations.Nullable;

/**
 * A pattern of a policy: a star matches any characters, slashes included; a question mark matches
 * one. Matching allocates nothing.
 */
record Wildcard(String pattern) {

    boolean matches(String text) {
        return matches(text, null);
    }

    /** Returns whether {@code bucket/key} matches; without a key, whether {@code bucket} does. */
    boolean matches(String bucket, @Nullable String key) {
        int length = key == null ? bucket.length() : bucket.length() + 1 + key.length();
        int p = 0;
        int t = 0;
        int star = -1;
        int starText = 0;
        // Linear except for stars: at a mismatch, only the last star takes one more character.
        while (t < length) {
            char wanted = p < pattern.length() ? pattern.charAt(p) : 0;
            if (p < pattern.length() && wanted == '*') {
                star = p++;
                starText = t;
            } else if (p < pattern.length()
                    && (wanted == '?' || wanted == charAt(bucket, key, t))) {
                p++;
                t++;
            } else if (star >= 0) {
                p = star + 1;
                t = ++starText;
            } else {
                return false;
            }
        }
        while (p < pattern.length() && pattern.charAt(p) == '*') {
            p++;
        }
        return p == pattern.length();
    }

    private static char charAt(String bucket, @Nullable String key,
            int at) {
        if (key == null || at < bucket.length()) {
            return bucket.charAt(at);
        }
        return at == bucket.length() ? '/' : key.charAt(at - bucket.length() - 1);
    }
}
