package io.railhead.os.adapter;

import java.net.InetAddress;

/**
 * One end of a reliable connection, as the other end needs it.
 *
 * @param number of the queue pair, 24 bits
 * @param gid as an address: the IPv4 address that it maps, else IPv6
 * @param lid on InfiniBand, 16 bits; 0 on RoCE
 * @param packetSequence the first packet's sequence number, 24 bits
 */
public record QueuePairEnd(int number, InetAddress gid, int lid, int packetSequence) {
    /** The largest number of a queue pair or packet, which have 24 bits. */
    public static final int LARGEST_NUMBER = (1 << 24) - 1;
    private static final int LARGEST_LID = (1 << 16) - 1;

    public QueuePairEnd {
        require("number", number, LARGEST_NUMBER);
        require("lid", lid, LARGEST_LID);
        require("packetSequence", packetSequence, LARGEST_NUMBER);
    }

    private static void require(String name, int value, int most) {
        if (value < 0 || value > most) {
            throw new IllegalArgumentException(name + " must be 0 to " + most + ": " + value);
        }
    }
}
