package io.railhead.rdma.session;

/** A peer that proved an access key. Immutable identity; its buffers belong to the fabric. */
public interface Session {

    /** Random, 24 bits: what a token carries in its DCT field. */
    int number();

    /** Random, 32 hex digits: what the HTTP open answered. */
    String id();

    String principal();

    /** The name of the fabric that it was opened for: its buffers are reached over no other. */
    String fabric();

    boolean isOpen();
}
