package io.railhead.protocol.channel;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;

/**
 * Texts of a record: UTF-8 without a terminator. ASCII texts, nearly all, are encoded without
 * allocation.
 */
final class Text {

    private Text() {}

    static int encodedBytes(String text) {
        return isAscii(text) ? text.length() : text.getBytes(UTF_8).length;
    }

    /** Appends the text at the buffer's position. */
    static void put(ByteBuffer out, String text) {
        if (!isAscii(text)) {
            out.put(text.getBytes(UTF_8));
            return;
        }
        for (int i = 0; i < text.length(); i++) {
            out.put((byte) text.charAt(i));
        }
    }

    static String get(ByteBuffer in, int at, int bytes) {
        if (bytes == 0) {
            return "";
        }
        byte[] copy = new byte[bytes];
        in.get(at, copy);
        return new String(copy, UTF_8);
    }

    private static boolean isAscii(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) > 0x7f) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns whether the bytes are well-formed UTF-8: no overlong form, no surrogate, nothing
     * truncated.
     */
    static boolean isWellFormed(ByteBuffer in, int at, int bytes) {
        int end = at + bytes;
        int next = at;
        while (next < end) {
            if (end - next >= Long.BYTES && (in.getLong(next) & 0x8080808080808080L) == 0) {
                next += Long.BYTES;
                continue;
            }
            int width = width(in, next, end);
            if (width == 0) {
                return false;
            }
            next += width;
        }
        return true;
    }

    /** Returns the length of the well-formed character at {@code at}; 0 if there is none. */
    private static int width(ByteBuffer in, int at, int end) {
        int lead = in.get(at) & 0xff;
        if (lead < 0x80) {
            return 1;
        }
        int width = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
        if (width == 0 || end - at < width || !isSecond(lead, in.get(at + 1) & 0xff)) {
            return 0;
        }
        for (int i = 2; i < width; i++) {
            if ((in.get(at + i) & 0xc0) != 0x80) {
                return 0;
            }
        }
        return width;
    }

    /** Tests a second byte by Table 3-7 of the Unicode standard. */
    private static boolean isSecond(int lead, int second) {
        int from = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
        int to = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
        return from <= second && second <= to;
    }
}
