package io.railhead.protocol.token;

import java.util.HexFormat;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The 81-character descriptor (cuObject DC_V1), seven lower-case hex fields:
 *
 * <pre>
 *  0               17        26        35    40      47  49                              81
 *  |address (16)  :|size (8):|rkey (8):|lid:|dct (6):|g:|gid (32)                        |
 * </pre>
 *
 * A token names the memory; the request's method decides the direction. Field g tells whether a GID
 * follows; without one the GID reads as zeros.
 *
 * @param address first byte in the client's memory
 * @param length of the window, 1 to 2^32 - 1 bytes
 * @param key the memory's remote key
 * @param lid InfiniBand local id, 16 bits
 * @param session the DCT number, 24 bits; over loopback the session's number
 * @param gid 32 hex digits as sent
 */
public record Token(long address, long length, int key, int lid, int session, String gid) {
    /** The GID of a loopback token: 127.0.0.1, IPv4-mapped. */
    public static final String LOOPBACK_GID = "00000000000000000000ffff7f000001";
    static final String NO_GID = "0".repeat(LOOPBACK_GID.length());
    static final long MAX_LENGTH = 0xffff_ffffL;
    static final int MAX_LID = 0xffff;
    static final int MAX_SESSION = 0xff_ffff;

    public Token {
        if (length < 1 || length > MAX_LENGTH) {
            throw new IllegalArgumentException("length must be 1 to 2^32 - 1: " + length);
        }
        if (Long.compareUnsigned(address + length - 1, address) < 0) {
            throw new IllegalArgumentException(
                    "window must not wrap around the address space: " + address + "+" + length);
        }
        if (lid < 0 || lid > MAX_LID) {
            throw new IllegalArgumentException("lid must have 16 bits: " + lid);
        }
        if (session < 0 || session > MAX_SESSION) {
            throw new IllegalArgumentException("session must have 24 bits: " + session);
        }
        if (gid.length() != NO_GID.length() || !Hex.isLowerCase(gid)) {
            throw new IllegalArgumentException("gid must be 32 lower-case hex digits: " + gid);
        }
    }

    /** Returns a token for memory that was registered over loopback. */
    public static Token loopback(long address, long length, int key, int session) {
        return new Token(address, length, key, 0, session, LOOPBACK_GID);
    }

    /** Returns whether the window is memory of this host, shared by a loopback session. */
    public boolean isLoopback() {
        return gid.equals(LOOPBACK_GID);
    }

    /** Returns whether the token names the port of its target. */
    public boolean hasGid() {
        return !gid.equals(NO_GID);
    }

    /**
     * Returns the part of this window that starts at this address; null if it does not lie inside.
     */
    @Nullable
    Token narrowedTo(long from, long bytes) {
        long skipped = from - address;
        boolean inside = bytes != 0 && Long.compareUnsigned(from, address) >= 0
                && Long.compareUnsigned(skipped, length) < 0
                && Long.compareUnsigned(bytes, length - skipped) <= 0;
        return inside ? new Token(from, bytes, key, lid, session, gid) : null;
    }

    /** Returns the 81 characters. */
    public String format() {
        HexFormat hex = HexFormat.of();
        return String.format(Locale.ROOT, "%s:%s:%s:%s:%s:%d:%s", hex.toHexDigits(address),
                hex.toHexDigits(length, 8), hex.toHexDigits(key), hex.toHexDigits(lid, 4),
                hex.toHexDigits(session, 6), gid.equals(NO_GID) ? 0 : 1, gid);
    }
}
