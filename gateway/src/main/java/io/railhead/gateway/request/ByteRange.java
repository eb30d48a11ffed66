package io.railhead.gateway.request;

import org.jspecify.annotations.Nullable;

/**
 * One range of a Range header (RFC 9110 §14.1.2).
 *
 * @param first first byte, or -1 for a suffix
 * @param last last byte inclusive, {@link Long#MAX_VALUE} if open; for a suffix its length
 */
public record ByteRange(long first, long last) {
    private static final long BEYOND_ANY = 1_000_000_000_000_000_000L;

    /**
     * Parses a header; null if it is not exactly one well-formed range, for which each caller has
     * S3's rule.
     */
    public static @Nullable ByteRange parse(String header) {
        if (!header.startsWith("bytes=")) {
            return null;
        }
        String spec = header.substring(6);
        int dash = spec.indexOf('-');
        if (dash < 0 || spec.indexOf(',') >= 0) {
            return null;
        }
        long first = dash == 0 ? -1 : number(spec.substring(0, dash));
        long last = dash == spec.length() - 1 ? Long.MAX_VALUE : number(spec.substring(dash + 1));
        boolean malformed = first == -2 || last == -2 || first > last
                || (first == -1 && last == Long.MAX_VALUE);
        return malformed ? null : new ByteRange(first, last);
    }

    /**
     * Parses digits, limited to a bound that no object reaches and no sum overflows; -2 if the text
     * is no number.
     */
    private static long number(String digits) {
        if (digits.isEmpty() || !digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
            return -2;
        }
        String significant = digits.replaceFirst("^0+(?=.)", "");
        return significant.length() > 18 ? BEYOND_ANY : Long.parseLong(significant);
    }

    public boolean isSuffix() {
        return first < 0;
    }

    public long from(long sizeBytes) {
        return isSuffix() ? Math.max(0, sizeBytes - last) : first;
    }

    /** Returns one past the last byte. */
    public long to(long sizeBytes) {
        return isSuffix() || last >= sizeBytes ? sizeBytes : last + 1;
    }

    public boolean isSatisfiable(long sizeBytes) {
        return isSuffix() ? last > 0 && sizeBytes > 0 : first < sizeBytes;
    }
}
