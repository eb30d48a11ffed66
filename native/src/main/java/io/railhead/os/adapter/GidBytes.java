package io.railhead.os.adapter;

import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * Converts between a GID's 16 bytes in network order and an address. A GID that maps an IPv4
 * address is read as that address, and no other GID is, so the conversion is unambiguous both ways.
 */
public final class GidBytes {
    public static final int LENGTH = 16;
    private static final int IPV4_OFFSET = 12;

    private GidBytes() {}

    public static byte[] of(InetAddress gid) {
        byte[] bytes = gid.getAddress();
        if (bytes.length == LENGTH) {
            return bytes;
        }
        byte[] mapped = new byte[LENGTH];
        mapped[IPV4_OFFSET - 1] = (byte) 0xff;
        mapped[IPV4_OFFSET - 2] = (byte) 0xff;
        System.arraycopy(bytes, 0, mapped, IPV4_OFFSET, bytes.length);
        return mapped;
    }

    /** @param bytes 16 bytes in network order */
    public static InetAddress read(byte[] bytes) {
        if (bytes.length != LENGTH) {
            throw new IllegalArgumentException("a GID has 16 bytes: " + bytes.length);
        }
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("only the length can be wrong", e);
        }
    }
}
