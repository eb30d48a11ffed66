package io.railhead.os;

/** The result of reading a message with one descriptor from a UNIX socket. */
public sealed interface DescriptorMessage {

    /** No message has come yet. */
    record Nothing() implements DescriptorMessage {}

    /** Exactly one descriptor came; the caller must close it. */
    record One(int ownedDescriptor) implements DescriptorMessage {}

    /** Another message came; the descriptors in it are closed. */
    record Refused(String reason) implements DescriptorMessage {}

    /** The other end has closed. */
    record Ended() implements DescriptorMessage {}
}
