package io.railhead.rdma.session;

import io.railhead.rdma.TransferException;

/**
 * A peer that proved an access key. Its identity is immutable; its buffers belong to the fabric.
 */
public interface ClientSession {

    /** Returns a random number of 24 bits, which tokens carry in their DCT field. */
    int number();

    /** Returns the name in logs and request ids: the number in hexadecimal digits. */
    default String label() {
        return Integer.toHexString(number());
    }

    /** Returns the random id of 32 hex digits that the HTTP open returned. */
    String id();

    String principal();

    /**
     * Returns the name of the fabric that it was opened for; its buffers are reachable over that
     * one only.
     */
    String fabric();

    boolean isOpen();

    /** Returns the failure of a transfer that the session's end aborted. */
    default TransferException brokenOff() {
        return new TransferException(TransferException.Reason.PEER_GONE, "the session has ended");
    }
}
