package io.railhead.gateway.pairing;

import java.util.HexFormat;

/** Numbers as the dialects' headers have them: bare hex digits, of either case. */
final class Hex {
    private static final int PSN_DIGITS = 6;
    private static final int COOKIE_DIGITS = 8;

    private Hex() {}

    /** A packet sequence number: six digits, and not 0. */
    static int psn(String text) {
        int psn = (int) exactly(PSN_DIGITS, text);
        if (psn == 0) {
            throw new IllegalArgumentException("must not be 0");
        }
        return psn;
    }

    static int cookie(String text) {
        return (int) exactly(COOKIE_DIGITS, text);
    }

    private static long exactly(int digits, String text) {
        if (text.length() != digits) {
            throw new IllegalArgumentException("must have " + digits + " hex digits");
        }
        return upTo(digits, text);
    }

    /** At least one digit. */
    static long upTo(int digits, String text) {
        if (text.isEmpty() || text.length() > digits) {
            throw new IllegalArgumentException("must have 1 to " + digits + " hex digits");
        }
        return HexFormat.fromHexDigitsToLong(text);
    }

    static String psn(int psn, HexFormat format) {
        return format.toHexDigits(psn, PSN_DIGITS);
    }
}
