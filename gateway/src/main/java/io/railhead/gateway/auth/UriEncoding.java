package io.railhead.gateway.auth;

import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * SigV4's one spelling of each URI: what is percent-encoded is decoded and encoded again, so that
 * it does not matter which of the reserved characters a client leaves alone. Nothing is normalised:
 * dots, empty segments and {@code %2F} stay what they are, since they name different keys.
 */
final class UriEncoding {
    private static final String HEX = "0123456789ABCDEF";

    private UriEncoding() {}

    static String path(String raw) {
        int plain = plainPrefix(raw, true);
        if (plain == raw.length()) {
            return raw;
        }
        return encode(raw, plain, true);
    }

    /**
     * The spellings of a path that a signature may cover, the usual one first. All of them name the
     * same key once it is decoded.
     *
     * <ul> <li>Each byte in SigV4's spelling, {@code %2F} left as it is: AWS's SDKs. <li>A slash
     * for each {@code %2F}: MinIO and RGW, which decode the whole path. <li>The path as it was
     * sent: clients that sign another spelling and send that. </ul>
     */
    static List<String> signedPaths(String raw) {
        String canonical = path(raw);
        if (canonical.indexOf("%2F") < 0 && canonical.equals(raw)) {
            return List.of(raw);
        }
        Set<String> paths = new LinkedHashSet<>();
        paths.add(canonical);
        paths.add(canonical.replace("%2F", "/"));
        paths.add(raw);
        return List.copyOf(paths);
    }

    /** A name or value of a query, where a plus sign is a space. */
    static String queryPart(String raw) {
        int plain = plainPrefix(raw, false);
        return plain == raw.length() ? raw : encode(raw, plain, false);
    }

    /** The bytes of a name or value of a query, each as one char. */
    static String decodeQueryPart(String raw) {
        StringBuilder decoded = new StringBuilder(raw.length());
        for (int i = 0; i < raw.length(); i++) {
            char c = raw.charAt(i);
            decoded.append(c == '%' ? hexByte(raw, i) : c == '+' ? ' ' : c);
            if (c == '%') {
                i += 2;
            }
        }
        return decoded.toString();
    }

    private static int plainPrefix(String raw, boolean path) {
        int i = 0;
        while (i < raw.length() && (isUnreserved(raw.charAt(i))
                || (path && raw.charAt(i) == '/'))) {
            i++;
        }
        return i;
    }

    private static String encode(String raw, int from, boolean path) {
        StringBuilder encoded = new StringBuilder(raw.length() + 16).append(raw, 0, from);
        for (int i = from; i < raw.length(); i++) {
            char c = raw.charAt(i);
            if (c == '/' && path) {
                encoded.append('/');
            } else if (c == '%') {
                append(encoded, hexByte(raw, i));
                i += 2;
            } else {
                append(encoded, c == '+' && !path ? ' ' : c);
            }
        }
        return encoded.toString();
    }

    private static void append(StringBuilder encoded, char c) {
        if (isUnreserved(c)) {
            encoded.append(c);
        } else if (c <= 0xFF) {
            encoded.append('%').append(HEX.charAt(c >> 4)).append(HEX.charAt(c & 0xF));
        } else {
            throw new S3Refusal(S3Error.INVALID_URI);
        }
    }

    private static char hexByte(String raw, int percent) {
        if (percent + 2 >= raw.length()) {
            throw new S3Refusal(S3Error.INVALID_URI);
        }
        int high = Hex.digit(raw.charAt(percent + 1));
        int low = Hex.digit(raw.charAt(percent + 2));
        if (high < 0 || low < 0) {
            throw new S3Refusal(S3Error.INVALID_URI);
        }
        return (char) (high << 4 | low);
    }

    private static boolean isUnreserved(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
                || c == '-' || c == '.' || c == '_' || c == '~';
    }
}
