package io.railhead.gateway.request;

import java.nio.charset.StandardCharsets;

/** Percent-decoding of paths and queries, where a plus sign is a plus sign. */
final class PercentCodec {

    private PercentCodec() {}

    /** Throws {@link IllegalArgumentException} on a stray percent sign. */
    static String decode(String raw) {
        if (raw.indexOf('%') < 0) {
            return raw;
        }
        byte[] in = raw.getBytes(StandardCharsets.UTF_8);
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
        return new String(out, 0, length, StandardCharsets.UTF_8);
    }

    private static int hex(byte digit) {
        int value = Character.digit(digit, 16);
        if (value < 0) {
            throw new IllegalArgumentException("a percent sign must be followed by two hex digits");
        }
        return value;
    }
}
