package io.railhead.os.verbs;

import java.nio.ByteBuffer;

/**
 * The parameters of one side of a connection: struct rdma_conn_param, with the fields that DiSNI
 * lacks.
 *
 * @param privateData at most 56 bytes on RDMA_PS_TCP to connect, 196 to accept; received data may
 *            be padded with zeros
 * @param responderResources the most outstanding READs of the peer
 * @param initiatorDepth the most outstanding READs of this side
 * @param retryCount transport retries, 0 to 7; 7 means for ever on soft-RoCE
 * @param rnrRetryCount retries while the peer has no receive posted; 7 means for ever everywhere
 * @param queuePair the number of the queue pair; 0 if rdma_cm created it
 */
public record ConnectionParameters(ByteBuffer privateData, int responderResources,
        int initiatorDepth, int retryCount, int rnrRetryCount, int queuePair) {
    private static final int MAX_DEPTH = 255;
    private static final int MAX_PRIVATE_DATA_BYTES = 255;
    private static final int MAX_RETRIES = 7;

    public ConnectionParameters {
        requireWithin("privateData.remaining", privateData.remaining(), MAX_PRIVATE_DATA_BYTES);
        requireWithin("responderResources", responderResources, MAX_DEPTH);
        requireWithin("initiatorDepth", initiatorDepth, MAX_DEPTH);
        requireWithin("retryCount", retryCount, MAX_RETRIES);
        requireWithin("rnrRetryCount", rnrRetryCount, MAX_RETRIES);
        privateData = ByteBuffer.allocate(privateData.remaining())
                .put(privateData.duplicate())
                .flip()
                .asReadOnlyBuffer();
    }

    /** Returns a read-only view with a position of its own. */
    @Override
    public ByteBuffer privateData() {
        return privateData.duplicate();
    }

    private static void requireWithin(String name, int value, int max) {
        if (value < 0 || value > max) {
            throw new IllegalArgumentException(name + " must be 0 to " + max + ": " + value);
        }
    }
}
