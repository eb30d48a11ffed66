package io.railhead.protocol.token;

import java.util.HexFormat;

/** Parses hex digits of tokens, headers and signatures, which have a fixed case or width. */
public final class Hex {
    private static final int SHA256_DIGITS = 64;
    private static final int PSN_DIGITS = 6;
    private static final int COOKIE_DIGITS = 8;

    private Hex() {}

    public static boolean isLowerCase(CharSequence text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if ((c < '0' || c > '9') && (c < 'a' || c > 'f')) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns whether a text is a digest. Upper case is refused: a signature covers the text, not
     * the number.
     */
    public static boolean isSha256(CharSequence text) {
        return text.length() == SHA256_DIGITS && isLowerCase(text);
    }

    /** Parses a packet sequence number: six digits of either case, not 0. */
    public static int psn(String text) {
        int psn = (int) exactly(PSN_DIGITS, text);
        if (psn == 0) {
            throw new IllegalArgumentException("must not be 0");
        }
        return psn;
    }

    /** Formats a packet sequence number. */
    public static String psn(int psn) {
        return HexFormat.of().toHexDigits(psn, PSN_DIGITS);
    }

    public static int cookie(String text) {
        return (int) exactly(COOKIE_DIGITS, text);
    }

    private static long exactly(int digits, String text) {
        if (text.length() != digits) {
            throw new IllegalArgumentException("must have " + digits + " hex digits");
        }
        return upTo(digits, text);
    }

    /** Parses at least one digit, of either case. */
    public static long upTo(int digits, String text) {
        if (text.isEmpty() || text.length() > digits) {
            throw new IllegalArgumentException("must have 1 to " + digits + " hex digits");
        }
        return HexFormat.fromHexDigitsToLong(text);
    }
}
