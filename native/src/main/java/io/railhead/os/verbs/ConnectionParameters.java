package io.railhead.os.verbs;

import java.nio.ByteBuffer;

/**
 * The parameters of one side of a connection: struct rdma_conn_param without its gaps in DiSNI.
 *
 * @param privateData at most 56 bytes on RDMA_PS_TCP to connect, 196 to accept; what arrives may be
 *            padded with zeros
 * @param responderResources READs that the peer may have outstanding here
 * @param initiatorDepth READs that may be outstanding from here
 * @param retryCount transport retries, 0 to 7; 7 means for ever on soft-RoCE
 * @param rnrRetryCount retries while the peer has no receive posted; 7 means for ever everywhere
 * @param queuePair the number of the queue pair; 0 if rdma_cm made it and so knows
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

    /** Read-only, with a position of its own. */
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
