package io.railhead.rdma.session;

import io.railhead.rdma.TransferException;

/** A peer that proved an access key. Immutable identity; its buffers belong to the fabric. */
public interface ClientSession {

    /** Random, 24 bits: what a token carries in its DCT field. */
    int number();

    /** As logs and the names of requests have it: the number, in hexadecimal digits. */
    default String label() {
        return Integer.toHexString(number());
    }

    /** Random, 32 hex digits: what the HTTP open answered. */
    String id();

    String principal();

    /** The name of the fabric that it was opened for: its buffers are reached over no other. */
    String fabric();

    boolean isOpen();

    /** What becomes of a transfer that the session's end broke off. */
    default TransferException brokenOff() {
        return new TransferException(TransferException.Reason.PEER_GONE, "the session has ended");
    }
}
