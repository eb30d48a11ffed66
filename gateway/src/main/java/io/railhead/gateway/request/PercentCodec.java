package io.railhead.gateway.request;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;

/** Percent-decoding of paths and queries, where a plus sign is a plus sign. */
final class PercentCodec {

    private static final String DIGITS = "0123456789ABCDEF";

    private PercentCodec() {}

    /** Throws {@link IllegalArgumentException} on a stray percent sign. */
    static String decode(String raw) {
        return raw.indexOf('%') < 0 ? raw : UTF_8.decode(octets(raw)).toString();
    }

    /**
     * The same, but throws {@link IllegalArgumentException} too where it is not UTF-8: two names
     * must not become one.
     */
    static String decodeName(String raw) {
        if (raw.indexOf('%') < 0) {
            return raw;
        }
        try {
            return UTF_8.newDecoder().decode(octets(raw)).toString();
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException("a name must be UTF-8", e);
        }
    }

    private static ByteBuffer octets(String raw) {
        byte[] in = raw.getBytes(UTF_8);
        byte[] out = new byte[in.length];
        int length = 0;
        for (int i = 0; i < in.length; i++) {
            if (in[i] != '%') {
                out[length++] = in[i];
                continue;
            }
            if (i + 2 >= in.length) {
                throw new IllegalArgumentException(
                        "a percent sign must be followed by two hex digits");
            }
            out[length++] = (byte) (hex(in[i + 1]) << 4 | hex(in[i + 2]));
            i += 2;
        }
        return ByteBuffer.wrap(out, 0, length);
    }

    /** As it came over the wire, each char one byte, with the bytes escaped that need it. */
    static String ascii(String wire) {
        if (wire.chars().allMatch(c -> c < 0x80)) {
            return wire;
        }
        StringBuilder escaped = new StringBuilder(wire.length() + 16);
        for (int i = 0; i < wire.length(); i++) {
            char c = wire.charAt(i);
            if (c < 0x80) {
                escaped.append(c);
            } else if (c <= 0xFF) {
                escaped.append('%').append(DIGITS.charAt(c >> 4)).append(DIGITS.charAt(c & 0xF));
            } else {
                throw new IllegalArgumentException("no byte is " + (int) c);
            }
        }
        return escaped.toString();
    }

    /** UTF-8 with everything encoded but SigV4's unreserved characters, and slashes where kept. */
    static String encode(String text, boolean keepSlashes) {
        StringBuilder out = new StringBuilder(text.length() + 16);
        for (byte b : text.getBytes(UTF_8)) {
            if (isUnreserved(b) || (keepSlashes && b == '/')) {
                out.append((char) b);
            } else {
                out.append('%')
                        .append(DIGITS.charAt((b >> 4) & 0xF))
                        .append(DIGITS.charAt(b & 0xF));
            }
        }
        return out.toString();
    }

    private static boolean isUnreserved(byte b) {
        return (b >= 'A' && b <= 'Z') || (b >= 'a' && b <= 'z') || (b >= '0' && b <= '9')
                || b == '-' || b == '.' || b == '_' || b == '~';
    }

    private static int hex(byte digit) {
        int value = Character.digit(digit, 16);
        if (value < 0) {
            throw new IllegalArgumentException("a percent sign must be followed by two hex digits");
        }
        return value;
    }
}
