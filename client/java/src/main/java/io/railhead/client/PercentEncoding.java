package io.railhead.client;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** RFC 3986 encoding as SigV4 for S3 wants it: of UTF-8 bytes, upper-case, each byte once. */
final class PercentEncoding {
    private static final HexFormat HEX = HexFormat.of().withUpperCase();

    private PercentEncoding() {}

    /** Of a key: slashes stay, also doubled ones. */
    static String ofKey(String key) {
        StringBuilder out = new StringBuilder(key.length() + 16);
        for (byte b : key.getBytes(StandardCharsets.UTF_8)) {
            char c = (char) (b & 0xff);
            if (c == '/' || isUnreserved(c)) {
                out.append(c);
            } else {
                out.append('%').append(HEX.toHexDigits(b));
            }
        }
        return out.toString();
    }

    private static boolean isUnreserved(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
                || c == '-' || c == '.' || c == '_' || c == '~';
    }
}
