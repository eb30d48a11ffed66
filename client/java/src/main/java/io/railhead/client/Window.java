package io.railhead.client;

import java.nio.ByteBuffer;

/**
 * A range of a registered buffer: memory of one request.
 *
 * @param offset of the range's first byte in the buffer
 * @param length in bytes, at least 1
 */
public record Window(RegisteredBuffer buffer, long offset, int length) {

    public Window {
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
