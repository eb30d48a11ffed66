package io.railhead.gateway.frontdoor;

import io.netty.buffer.ByteBuf;
import io.netty.util.AsciiString;
import java.util.Arrays;

/**
 * The head of an HTTP/1.1 response as bytes, written field by field. Values come from parsed fields
 * of a store's response or from the gateway, so no value holds a line end. One event loop only; the
 * buffer is reused for each response.
 */
final class HeadBytes {
    private static final AsciiString OK = AsciiString.cached("HTTP/1.1 200 OK\r\n");
    private static final AsciiString PARTIAL = AsciiString
            .cached("HTTP/1.1 206 Partial Content\r\n");
    private static final AsciiString COLON = AsciiString.cached(": ");
    private static final AsciiString LINE_END = AsciiString.cached("\r\n");

    private byte[] bytes = new byte[1024];
    private int length;

    HeadBytes begin(int status) {
        length = 0;
        add(status == 206 ? PARTIAL : OK);
        return this;
    }

    HeadBytes field(CharSequence name, CharSequence value) {
        add(name);
        add(COLON);
        add(value);
        add(LINE_END);
        return this;
    }

    int end() {
        add(LINE_END);
        return length;
    }

    void writeTo(ByteBuf buffer) {
        buffer.writeBytes(bytes, 0, length);
    }

    private void add(CharSequence text) {
        int more = text.length();
        if (length + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, 2 * (length + more));
        }
        switch (text) {
            case AsciiString ascii ->
                System.arraycopy(ascii.array(), ascii.arrayOffset(), bytes, length, more);
            case String string -> addChars(string);
            default -> addChars(text.toString());
        }
        length += more;
    }

    /**
     * Copies the low byte of each char, which is what this deprecated method does, without looking
     * at each char.
     */
    @SuppressWarnings("deprecation")
    private void addChars(String text) {
        text.getBytes(0, text.length(), bytes, length);
    }
}
