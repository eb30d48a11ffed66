package io.railhead.client;

import java.nio.ByteBuffer;

/** A range of a registered buffer: one request's memory. */
record Window(RegisteredBuffer buffer, long offset, int length) {

    Window {
        if (offset < 0 || length < 1 || length > buffer.bytes() - offset) {
            throw new IllegalArgumentException(length + " bytes at " + offset
                    + " do not lie within the buffer of " + buffer.bytes());
        }
    }

    /** Returns the first bytes of the window. */
    ByteBuffer bytes(int count) {
        return buffer.memory().asSlice(offset, length).asByteBuffer().limit(count);
    }
}
