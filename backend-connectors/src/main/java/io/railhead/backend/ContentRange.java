package io.railhead.backend;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The {@code Content-Range} of a 206 response: {@code bytes first-last/size}.
 *
 * @param last inclusive
 * @param size of the whole object
 */
public record ContentRange(long first, long last, long size) {
    private static final Pattern SYNTAX = Pattern
            .compile("bytes (\\d{1,18})-(\\d{1,18})/(\\d{1,18})");

    public ContentRange {
        if (first < 0 || last < first || size <= last) {
            throw new IllegalArgumentException(
                    "need 0 <= first <= last < size: " + first + "-" + last + "/" + size);
        }
    }

    /**
     * Parses a header; null if it is missing, malformed, contradictory, or leaves anything unknown.
     */
    public static @Nullable ContentRange tryParse(@Nullable String header) {
        if (header == null) {
            return null;
        }
        Matcher matcher = SYNTAX.matcher(header.strip());
        if (!matcher.matches()) {
            return null;
        }
        long first = Long.parseLong(matcher.group(1));
        long last = Long.parseLong(matcher.group(2));
        long size = Long.parseLong(matcher.group(3));
        return last < first || size <= last ? null : new ContentRange(first, last, size);
    }

    public long lengthBytes() {
        return last - first + 1;
    }
}
