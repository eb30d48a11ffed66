package io.railhead.os.devices;

import java.net.InetAddress;
import java.util.Optional;

/**
 * An entry of a port's GID table. Its index is no identity: it changes with the machine's
 * addresses.
 *
 * @param address the GID as an IPv6 address, or the IPv4 address that it maps
 * @param network the network interface; empty on InfiniBand
 */
public record Gid(int index, InetAddress address, GidType type,
        Optional<NetworkInterface> network) {

    private static final int BYTES = 16;
    private static final int IPV4_OFFSET = 12;

    /** Returns the GID in network order. */
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

    /** @param mtuBytes the interface's MTU, which limits the port's */
    public record NetworkInterface(String name, int mtuBytes) {
        /** Headers and trailer of the longest packet, as the kernel counts them for RoCE. */
        private static final int HEADER_BYTES = 96;
        private static final int MIN_PATH_MTU = 256;
        private static final int MAX_PATH_MTU = 4096;

        /** Returns the largest packet payload, in bytes, that verbs can use over this interface. */
        public int pathMtuBytes() {
            int room = Math.max(MIN_PATH_MTU, mtuBytes - HEADER_BYTES);
            return Math.min(MAX_PATH_MTU, Integer.highestOneBit(room));
        }
    }
}
