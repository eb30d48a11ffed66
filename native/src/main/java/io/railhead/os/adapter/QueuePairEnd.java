package io.railhead.os.adapter;

import java.net.InetAddress;

/**
 * One end of a reliable connection, as the other has to know it.
 *
 * @param number of the queue pair, 24 bits
 * @param gid read as an address: an IPv4 one that it maps, else IPv6
 * @param lid on InfiniBand, 16 bits; 0 on RoCE
 * @param packetSequence with which it begins to send, 24 bits
 */
public record QueuePairEnd(int number, InetAddress gid, int lid, int packetSequence) {
    /** Queue pairs and packets are numbered with 24 bits. */
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
