package io.railhead.gateway.auth;

import java.util.HexFormat;

/** Lower-case hex, as SigV4 spells digests. */
final class Hex {
    private static final HexFormat FORMAT = HexFormat.of();
    private static final int SHA256_CHARS = 64;

    private Hex() {}

    static String of(byte[] bytes) {
        return FORMAT.formatHex(bytes);
    }

    /** The digit's value in either case, or -1; of ASCII only. */
    static int digit(char c) {
        return c < 0x80 ? Character.digit(c, 16) : -1;
    }

    /** Upper case is not a digest: the signature covers the text, not the number. */
    static boolean isSha256(String text) {
        if (text.length() != SHA256_CHARS) {
            return false;
        }
        for (int i = 0; i < SHA256_CHARS; i++) {
            char c = text.charAt(i);
            if ((c < '0' || c > '9') && (c < 'a' || c > 'f')) {
                return false;
            }
        }
        return true;
    }
}
