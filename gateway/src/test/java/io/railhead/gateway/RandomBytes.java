package io.railhead.gateway;

import java.util.Random;

/** Objects whose bytes are drawn from a seed. */
public final class RandomBytes {
    private RandomBytes() {}

    public static byte[] random(int seed, int length) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    /** The length is the seed. */
    public static byte[] random(int length) {
        return random(length, length);
    }
}
