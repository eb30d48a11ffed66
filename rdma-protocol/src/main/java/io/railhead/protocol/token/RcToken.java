package io.railhead.protocol.token;

import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The token of a request over a queue pair that was paired before, in lower-case hex:
 *
 * <pre>
 *  rc:|session (32)|:|address (16)|:|size (8)|:|rkey (8)|
 * </pre>
 *
 * @param session the session's id
 * @param length of the window, 1 to 2^32 - 1 bytes
 * @param key that the client's adapter gave the memory
 */
public record RcToken(String session, long address, long length, int key) {
    /** The prefix that distinguishes it from other tokens. */
    public static final String PREFIX = "rc:";
    public static final long MAX_LENGTH = 0xffff_ffffL;
    private static final Pattern SYNTAX = Pattern
            .compile("rc:([0-9a-f]{32}):([0-9a-f]{16}):([0-9a-f]{8}):([0-9a-f]{8})");
    private static final Pattern SESSION = Pattern.compile("[0-9a-f]{32}");
    private static final int SIZE_DIGITS = 8;

    public RcToken {
        if (!SESSION.matcher(session).matches()) {
            throw new IllegalArgumentException("session must be 32 lower-case hex digits");
        }
        if (length < 1 || length > MAX_LENGTH) {
            throw new IllegalArgumentException("length must be 1 to 2^32 - 1: " + length);
        }
        if (Long.compareUnsigned(address + length - 1, address) < 0) {
            throw new IllegalArgumentException(
                    "window must not wrap around the address space: " + address + "+" + length);
        }
    }

    /** Parses a token. Throws {@link IllegalArgumentException} that names the fault. */
    public static RcToken parse(String text) {
        Matcher fields = SYNTAX.matcher(text);
        if (!fields.matches()) {
            throw new IllegalArgumentException("a token must be rc:<session>:<address>:<size>:"
                    + "<rkey> with 32, 16, 8 and 8 lower-case hex digits");
        }
        return new RcToken(fields.group(1), Long.parseUnsignedLong(fields.group(2), 16),
                Long.parseLong(fields.group(3), 16), Integer.parseUnsignedInt(fields.group(4), 16));
    }

    public String format() {
        HexFormat hex = HexFormat.of();
        return PREFIX + session + ':' + hex.toHexDigits(address) + ':'
                + hex.toHexDigits(length, SIZE_DIGITS) + ':' + hex.toHexDigits(key);
    }
}
