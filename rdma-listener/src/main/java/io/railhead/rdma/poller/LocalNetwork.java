package io.railhead.rdma.poller;

import java.net.InetAddress;
import java.net.InterfaceAddress;
import java.net.NetworkInterface;
import java.net.SocketException;

/** Tests whether an address of this machine reaches a peer without a router. */
public final class LocalNetwork {

    private LocalNetwork() {}

    /**
     * Returns whether the peer is on the network of the interface that has the address.
     *
     * @param own an address of this machine; any other has no network
     */
    public static boolean holds(InetAddress own, InetAddress peer) {
        try {
            NetworkInterface network = NetworkInterface.getByInetAddress(own);
            return network != null && network.getInterfaceAddresses()
                    .stream()
                    .filter(address -> address.getAddress().equals(own))
                    .anyMatch(address -> holds(address, peer));
        } catch (SocketException e) {
            return false;
        }
    }

    private static boolean holds(InterfaceAddress network, InetAddress peer) {
        byte[] own = network.getAddress().getAddress();
        byte[] other = peer.getAddress();
        int bits = network.getNetworkPrefixLength();
        for (int i = 0; i < own.length && bits > 0; i++, bits -= Byte.SIZE) {
            int mask = bits >= Byte.SIZE ? 0xff : 0xff << (Byte.SIZE - bits);
            if ((own[i] & mask) != (other[i] & mask)) {
                return false;
            }
        }
        return own.length == other.length;
    }
}
