package io.railhead.os;

/** The result of a read of a UNIX socket where a message with one descriptor was expected. */
public sealed interface DescriptorMessage {

    /** Nothing has come yet. */
    record Nothing() implements DescriptorMessage {}

    /** The descriptor came, alone; it is the caller's to close. */
    record One(int ownedDescriptor) implements DescriptorMessage {}

    /** Something else came; whatever descriptors it brought are closed. */
    record Refused(String reason) implements DescriptorMessage {}

    /** The other end has closed. */
    record Ended() implements DescriptorMessage {}
}
