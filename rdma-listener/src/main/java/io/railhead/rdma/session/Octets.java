package io.railhead.rdma.session;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.random.RandomGenerator;

/** Thirty-two bytes that do not change: a nonce or a proof. Compared in constant time. */
public final class Octets {
    public static final int SIZE = 32;
    private final byte[] bytes;

    private Octets(byte[] bytes) {
        this.bytes = bytes;
    }

    public static Octets of(byte[] bytes) {
        if (bytes.length != SIZE) {
            throw new IllegalArgumentException("bytes must be " + SIZE + ": " + bytes.length);
        }
        return new Octets(bytes.clone());
    }

    /** The next ones of a buffer. */
    static Octets next(ByteBuffer from) {
        byte[] bytes = new byte[SIZE];
        from.get(bytes);
        return new Octets(bytes);
    }

    /** Fresh ones, for a nonce. */
    public static Octets random(RandomGenerator random) {
        byte[] bytes = new byte[SIZE];
        random.nextBytes(bytes);
        return new Octets(bytes);
    }

    public byte[] bytes() {
        return bytes.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Octets octets && MessageDigest.isEqual(bytes, octets.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }
}
