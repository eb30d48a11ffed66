package io.railhead.protocol.channel;

/**
 * One of several windows of a request: a range of a registered buffer. Its record, little-endian:
 *
 * <pre>
 *    0          4        8      16     24
 *    |buffer key|reserved|offset|length|
 * </pre>
 *
 * @param bufferKey of the registered buffer
 * @param offset in the buffer; unsigned, and not checked against it
 * @param length at least 1; not checked against the buffer
 */
public record RequestWindow(int bufferKey, long offset, long length) {
    /** The most windows of one request. */
    public static final int MAX_WINDOWS = 64;
    static final int BYTES = 24;
    static final int RESERVED = 4;
    static final int OFFSET = 8;
    static final int LENGTH = 16;

    public RequestWindow {
        if (length < 1) {
            throw new IllegalArgumentException("length must be >= 1: " + length);
        }
    }
}
