package io.railhead.os.adapter;

import java.util.OptionalInt;

/**
 * The configuration of queue pairs, on either side of a connection.
 *
 * @param sendDepth the most work requests in a send queue
 * @param signalEvery the number of requests of which one is signalled
 * @param entries of a work request's scatter list; less if the device supports less
 * @param readDepth the most outstanding READs; less if the device supports less
 * @param ackTimeout a packet is sent again after 4.096 µs × 2^this
 * @param retryCount retries before a peer counts as dead; 7 means for ever on some adapters
 * @param rnrRetry retries while the peer has no receive posted, which credits exclude
 * @param minRnrTimer the wait requested of a peer, as coded in the InfiniBand specification
 * @param trafficClass of the packets: DSCP × 4; the adapter's own if empty
 * @param serviceLevel of the packets; the path's if empty
 * @param maxPathMtu the upper limit of a packet's payload, besides the path's own
 */
public record QueuePairConfig(int sendDepth, int signalEvery, int entries, int readDepth,
        int ackTimeout, int retryCount, int rnrRetry, int minRnrTimer, OptionalInt trafficClass,
        OptionalInt serviceLevel, int maxPathMtu) {
    /** The largest path MTU that exists. */
    public static final int LONGEST_PATH_MTU = 4096;
    public static final QueuePairConfig DEFAULT = new QueuePairConfig(128, 16, 16, 16, 14, 6, 3,
            12, OptionalInt.empty(), OptionalInt.empty(), LONGEST_PATH_MTU);
    private static final int LEAST_DEPTH = 64;
    private static final int MOST_RETRIES = 6;
    private static final int MOST_RNR_RETRIES = 3;
    private static final int SHORTEST_PATH_MTU = 256;

    public QueuePairConfig {
        require("sendDepth", sendDepth, LEAST_DEPTH, 1 << 15);
        require("signalEvery", signalEvery, 1, sendDepth / 2);
        require("entries", entries, 1, 64);
        require("readDepth", readDepth, 1, 255);
        require("ackTimeout", ackTimeout, 1, 31);
        require("retryCount", retryCount, 0, MOST_RETRIES);
        require("rnrRetry", rnrRetry, 0, MOST_RNR_RETRIES);
        require("minRnrTimer", minRnrTimer, 1, 31);
        if (trafficClass.isPresent()) {
            require("trafficClass", trafficClass.getAsInt(), 0, 255);
        }
        if (serviceLevel.isPresent()) {
            require("serviceLevel", serviceLevel.getAsInt(), 0, 15);
        }
        require("maxPathMtu", maxPathMtu, SHORTEST_PATH_MTU, LONGEST_PATH_MTU);
        if (Integer.bitCount(maxPathMtu) != 1) {
            throw new IllegalArgumentException("maxPathMtu must be a power of two: " + maxPathMtu);
        }
    }

    /**
     * Returns the configuration with a limit of the path MTU: both ends of a connection must have
     * the same.
     */
    public QueuePairConfig withMaxPathMtu(int bytes) {
        return new QueuePairConfig(sendDepth, signalEvery, entries, readDepth, ackTimeout,
                retryCount, rnrRetry, minRnrTimer, trafficClass, serviceLevel, bytes);
    }

    /** Returns the configuration with another retransmission timeout. */
    public QueuePairConfig withAckTimeout(int exponent) {
        return new QueuePairConfig(sendDepth, signalEvery, entries, readDepth, exponent,
                retryCount, rnrRetry, minRnrTimer, trafficClass, serviceLevel, maxPathMtu);
    }

    /** Returns the limit as enum ibv_mtu: 1 is 256 bytes, and each further value doubles. */
    int pathMtuCode() {
        return 1 + Integer.numberOfTrailingZeros(maxPathMtu / SHORTEST_PATH_MTU);
    }

    private static void require(String name, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(
                    name + " must be " + least + " to " + most + ": " + value);
        }
    }
}
