package io.railhead.gateway.request;

import java.util.regex.Pattern;

/**
 * Detects keys that a store, or a proxy before it, could read as another key. Some resolve keys
 * like paths: dot segments go up, and empty segments or a leading slash vanish.
 */
public final class KeyReadings {
    private static final Pattern SLASHES = Pattern.compile("/{2,}");

    private KeyReadings() {}

    /** Returns whether any store could read the key as another; allocates nothing. */
    public static boolean isAmbiguous(String key) {
        return hasEmptySegment(key) || hasDotSegment(key);
    }

    public static boolean hasDotSegment(String key) {
        return key.equals(".") || key.equals("..") || key.startsWith("./") || key.startsWith("../")
                || key.endsWith("/.") || key.endsWith("/..") || key.contains("/./")
                || key.contains("/../");
    }

    public static boolean hasEmptySegment(String key) {
        return key.startsWith("/") || key.contains("//");
    }

    public static String withoutEmptySegments(String key) {
        String single = SLASHES.matcher(key).replaceAll("/");
        return single.startsWith("/") ? single.substring(1) : single;
    }
}
