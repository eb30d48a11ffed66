package io.railhead.protocol.channel;

import java.util.BitSet;
import java.util.HexFormat;

/**
 * The answer's header with one bit for each key of the request, in hexadecimal digits. The first
 * key is the lowest bit of the first byte, and as many bytes are there as the keys need.
 */
public final class HeldKeys {
    /** The header's name. */
    public static final String HEADER = "x-railhead-keys";

    private HeldKeys() {}

    /** Returns the header's value. */
    public static String format(BitSet held, int count) {
        byte[] bytes = new byte[(count + 7) / 8];
        held.stream().forEach(at -> bytes[at / 8] |= (byte) (1 << (at % 8)));
        return HexFormat.of().formatHex(bytes);
    }

    /** Returns the bits of a header's value; throws if it is not hexadecimal. */
    public static BitSet parse(String value) {
        return BitSet.valueOf(HexFormat.of().parseHex(value));
    }
}
