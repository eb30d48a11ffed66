package io.railhead.protocol.message;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.random.RandomGenerator;

/** Thirty-two immutable bytes: a nonce or a proof. Compared in constant time. */
public final class Bytes32 {
    public static final int SIZE = 32;
    private final byte[] bytes;

    private Bytes32(byte[] bytes) {
        this.bytes = bytes;
    }

    public static Bytes32 of(byte[] bytes) {
        if (bytes.length != SIZE) {
            throw new IllegalArgumentException("bytes must be " + SIZE + ": " + bytes.length);
        }
        return new Bytes32(bytes.clone());
    }

    /** Reads the next bytes of a buffer. */
    static Bytes32 next(ByteBuffer from) {
        byte[] bytes = new byte[SIZE];
        from.get(bytes);
        return new Bytes32(bytes);
    }

    /** Returns random bytes for a nonce. */
    public static Bytes32 random(RandomGenerator random) {
        byte[] bytes = new byte[SIZE];
        random.nextBytes(bytes);
        return new Bytes32(bytes);
    }

    public byte[] bytes() {
        return bytes.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Bytes32 bytes32 && MessageDigest.isEqual(bytes, bytes32.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }
}
