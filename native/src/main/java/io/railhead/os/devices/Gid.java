package io.railhead.os.devices;

import java.net.InetAddress;
import java.util.Optional;

/**
 * An entry of a port's GID table. Its index is not an identity: it changes with the addresses of
 * the machine.
 *
 * @param address the GID read as an IPv6 address, or the IPv4 address that it maps
 * @param network the network interface, unless on InfiniBand
 */
public record Gid(int index, InetAddress address, GidType type,
        Optional<NetworkInterface> network) {

    private static final int BYTES = 16;
    private static final int IPV4_OFFSET = 12;

    /** The GID itself, in network order. */
    public byte[] bytes() {
        byte[] bytes = address.getAddress();
        if (bytes.length == BYTES) {
            return bytes;
        }
        byte[] mapped = new byte[BYTES];
        mapped[IPV4_OFFSET - 1] = (byte) 0xff;
        mapped[IPV4_OFFSET - 2] = (byte) 0xff;
        System.arraycopy(bytes, 0, mapped, IPV4_OFFSET, bytes.length);
        return mapped;
    }

    /**
     * @param mtuBytes of the interface, which limits the port's
     */
    public record NetworkInterface(String name, int mtuBytes) {
        /** Headers and trailer of the longest packet, as the kernel counts them for RoCE. */
        private static final int HEADER_BYTES = 96;
        private static final int MIN_PATH_MTU = 256;
        private static final int MAX_PATH_MTU = 4096;

        /** The largest packet payload that verbs can use over it, in bytes. */
        public int pathMtuBytes() {
            int room = Math.max(MIN_PATH_MTU, mtuBytes - HEADER_BYTES);
            return Math.min(MAX_PATH_MTU, Integer.highestOneBit(room));
        }
    }
}
