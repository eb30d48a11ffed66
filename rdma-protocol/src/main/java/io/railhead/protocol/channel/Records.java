package io.railhead.protocol.channel;

import java.nio.ByteBuffer;

/** The common part of request and answer records. */
final class Records {

    private Records() {}

    static int padded(int bytes) {
        return (bytes + 7) & ~7;
    }

    /** Appends a text; returns its length for the record's field. */
    static short put(ByteBuffer out, String text) {
        int before = out.position();
        Text.put(out, text);
        return (short) (out.position() - before);
    }

    static void pad(ByteBuffer out, int end) {
        while (out.position() < end) {
            out.put((byte) 0);
        }
    }
}
