package io.railhead.gateway.request;

import java.util.regex.Pattern;

/**
 * Keys that a store, or what stands before it, could take for another's. Some resolve them as paths
 * are resolved: segments of dots go up, and empty ones, a slash at the beginning too, are none.
 */
public final class KeyReadings {
    private static final Pattern SLASHES = Pattern.compile("/{2,}");

    private KeyReadings() {}

    /** Whether any store could; allocates nothing. */
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
