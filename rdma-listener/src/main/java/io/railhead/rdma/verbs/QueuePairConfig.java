package io.railhead.rdma.verbs;

import java.util.OptionalInt;

/**
 * How queue pairs are made, on either side of a connection.
 *
 * @param sendDepth work requests that a send queue holds
 * @param signalEvery a success of every so many is reported
 * @param entries of a work request's scatter list; less where the device has less
 * @param readDepth READs outstanding at a time; less where the device has less
 * @param ackTimeout a packet is sent again after 4.096 µs × 2^this
 * @param retryCount before a peer counts as dead; 7 means for ever on some adapters
 * @param rnrRetry while the peer has no receive posted, which credits make impossible
 * @param minRnrTimer code of the wait that is asked of a peer, as in the InfiniBand specification
 * @param trafficClass of the packets: DSCP × 4; the adapter's own if empty
 */
public record QueuePairConfig(int sendDepth, int signalEvery, int entries, int readDepth,
        int ackTimeout, int retryCount, int rnrRetry, int minRnrTimer, OptionalInt trafficClass) {
    public static final QueuePairConfig DEFAULT = new QueuePairConfig(128, 16, 16, 16, 14, 6, 3,
            12, OptionalInt.empty());
    private static final int LEAST_DEPTH = 64;
    private static final int MOST_RETRIES = 6;
    private static final int MOST_RNR_RETRIES = 3;

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
    }

    private static void require(String name, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(
                    name + " must be " + least + " to " + most + ": " + value);
        }
    }
}
