package io.railhead.gateway.authorization;

import java.math.BigInteger;
import java.net.InetAddress;

/**
 * An address range such as {@code 10.0.0.0/8} or {@code fd00::/8}.
 *
 * @param address its first bits
 * @param prefixBits the number of bits that count
 */
record Network(InetAddress address, int prefixBits) {

    /** Parses a range. Throws {@link IllegalArgumentException} that names the fault. */
    static Network parse(String text) {
        int slash = text.indexOf('/');
        try {
            InetAddress address = InetAddress
                    .ofLiteral(slash < 0 ? text : text.substring(0, slash));
            int all = address.getAddress().length * 8;
            int bits = slash < 0 ? all : Integer.parseInt(text.substring(slash + 1));
            if (bits >= 0 && bits <= all && !hasHostBits(address, all - bits)) {
                return new Network(address, bits);
            }
        } catch (IllegalArgumentException e) {
            throw notANetwork(text);
        }
        throw notANetwork(text);
    }

    private static IllegalArgumentException notANetwork(String text) {
        return new IllegalArgumentException(
                "'" + text + "' is not a network such as 10.0.0.0/8");
    }

    private static boolean hasHostBits(InetAddress address, int hostBits) {
        BigInteger mask = BigInteger.ONE.shiftLeft(hostBits).subtract(BigInteger.ONE);
        return new BigInteger(1, address.getAddress()).and(mask).signum() != 0;
    }

    boolean contains(InetAddress other) {
        byte[] ours = address.getAddress();
        byte[] theirs = other.getAddress();
        if (ours.length != theirs.length) {
            return false;
        }
        int whole = prefixBits / 8;
        for (int i = 0; i < whole; i++) {
            if (ours[i] != theirs[i]) {
                return false;
            }
        }
        int rest = prefixBits % 8;
        return rest == 0 || ((ours[whole] ^ theirs[whole]) & 0xFF) >> (8 - rest) == 0;
    }
}
