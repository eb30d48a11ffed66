package io.railhead.cli.bench;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Reads the head of a response, as little as a client can: its status, the body's length, and
 * whether it says that the bytes were delivered one-sided. Reused; one thread.
 */
final class ResponseHead {
    private static final byte[] LENGTH = "content-length:".getBytes(ISO_8859_1);
    private static final byte[] REPLY = "x-amz-rdma-reply: 200".getBytes(ISO_8859_1);
    private static final byte[] MOVED = "x-amz-rdma-bytes-transferred:".getBytes(ISO_8859_1);
    private static final int MOST = 16 << 10;
    private static final int STATUS_AT = 9;

    private final byte[] head = new byte[MOST];
    private long contentLength;
    private long moved;
    private boolean isDelivered;

    /** Where the body begins, and the buffer is then there; -1 if the head has not come whole. */
    int read(ByteBuffer from) throws IOException {
        int available = Math.min(from.remaining(), MOST);
        from.get(from.position(), head, 0, available);
        contentLength = -1;
        moved = 0;
        isDelivered = false;
        for (int at = 0; at < available;) {
            int end = lineEnd(at, available);
            if (end < 0) {
                break;
            }
            if (end - at <= 1) {
                requireOk(available);
                from.position(from.position() + end + 1);
                return from.position();
            }
            header(at, end);
            at = end + 1;
        }
        if (available == MOST) {
            throw new IOException("a response's head is longer than " + MOST + " bytes");
        }
        return -1;
    }

    private int lineEnd(int from, int to) {
        for (int at = from; at < to; at++) {
            if (head[at] == '\n') {
                return at;
            }
        }
        return -1;
    }

    private void header(int at, int end) {
        if (isAt(LENGTH, at, end)) {
            contentLength = number(at + LENGTH.length, end);
        } else if (isAt(MOVED, at, end)) {
            moved = number(at + MOVED.length, end);
        } else if (isAt(REPLY, at, end)) {
            isDelivered = true;
        }
    }

    private boolean isAt(byte[] name, int at, int end) {
        if (end - at < name.length) {
            return false;
        }
        for (int i = 0; i < name.length; i++) {
            int letter = head[at + i];
            if ((letter >= 'A' && letter <= 'Z' ? letter | 0x20 : letter) != name[i]) {
                return false;
            }
        }
        return true;
    }

    private long number(int at, int end) {
        long value = 0;
        for (int i = at; i < end; i++) {
            if (head[i] >= '0' && head[i] <= '9') {
                value = 10 * value + head[i] - '0';
            }
        }
        return value;
    }

    private void requireOk(int available) throws IOException {
        if (head[STATUS_AT] != '2' || head[STATUS_AT + 1] != '0'
                || (head[STATUS_AT + 2] != '0' && head[STATUS_AT + 2] != '6')) {
            throw new IOException(
                    "not 200 or 206: " + new String(head, 0, Math.min(available, 2400),
                            ISO_8859_1).replaceAll("\\s+", " "));
        }
        if (contentLength < 0) {
            throw new IOException("a response has no Content-Length");
        }
    }

    long contentLength() {
        return contentLength;
    }

    /** Bytes that it says were delivered one-sided; 0 if it says nothing of the kind. */
    long delivered() {
        return isDelivered ? moved : 0;
    }
}
