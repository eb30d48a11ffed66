package io.railhead.protocol.channel;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import io.railhead.protocol.message.MessageException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/**
 * The keys of one request that names many, without the prefix that they share. Little-endian:
 *
 * <pre>
 *    0     2          4
 *    |count|hash bytes| the keys
 * </pre>
 *
 * <p> With hash bytes of 0, each key is a text behind its length (u16). Otherwise each key is a
 * hash of so many bytes, and the object's key ends in its lower-case hexadecimal digits.
 *
 * <p> A block is kept as it came. Its count and lengths are checked when {@link #keys} reads it, so
 * that a wrong block is one request's error and not the session's end. Immutable.
 */
public final class KeyBlock {
    /** The block of requests that have none. */
    public static final KeyBlock NONE = new KeyBlock(new byte[0]);
    /** The most keys of one request. */
    public static final int MAX_KEYS = 1024;
    /** The longest hash, in bytes. */
    public static final int MAX_HASH_BYTES = 64;
    private static final int COUNT = 0;
    private static final int HASH_BYTES = 2;
    private static final int FIXED_BYTES = 4;

    private final byte[] bytes;

    private KeyBlock(byte[] bytes) {
        this.bytes = bytes;
    }

    /** Returns the block at a place of a message; its content is not checked. */
    static KeyBlock copy(ByteBuffer from, int at, int length) {
        if (length == 0) {
            return NONE;
        }
        byte[] copy = new byte[length];
        from.get(at, copy);
        return new KeyBlock(copy);
    }

    /** Returns a block of texts. */
    public static KeyBlock ofTexts(List<String> keys) {
        int length = FIXED_BYTES;
        for (String key : keys) {
            length += Short.BYTES + Text.encodedBytes(key);
        }
        byte[] bytes = new byte[length];
        ByteBuffer out = begin(bytes, keys.size(), 0);
        for (String key : keys) {
            int at = out.position();
            out.position(at + Short.BYTES);
            out.putShort(at, Records.put(out, key));
        }
        return new KeyBlock(bytes);
    }

    /**
     * Returns a block of hashes.
     *
     * @param hashBytes the length of each hash, 1 to {@link #MAX_HASH_BYTES}
     * @param hashes one behind the other
     */
    public static KeyBlock ofHashes(int hashBytes, byte[] hashes) {
        if (hashBytes < 1 || hashes.length % hashBytes != 0) {
            throw new IllegalArgumentException(
                    "hashes must have " + hashBytes + " bytes each: " + hashes.length);
        }
        byte[] bytes = new byte[FIXED_BYTES + hashes.length];
        begin(bytes, hashes.length / hashBytes, hashBytes).put(hashes);
        return new KeyBlock(bytes);
    }

    private static ByteBuffer begin(byte[] bytes, int count, int hashBytes) {
        return ByteBuffer.wrap(bytes)
                .order(LITTLE_ENDIAN)
                .putShort((short) count)
                .putShort((short) hashBytes);
    }

    /** Returns the count that the block claims to have; not checked. */
    public int count() {
        return bytes.length < FIXED_BYTES
                ? 0
                : ByteBuffer.wrap(bytes).order(LITTLE_ENDIAN).getShort(COUNT) & 0xffff;
    }

    int length() {
        return bytes.length;
    }

    void put(ByteBuffer out) {
        out.put(bytes);
    }

    /**
     * Returns the objects' keys, each with the prefix before it, in the block's order.
     *
     * @throws MessageException if the block has no key or too many, or its lengths do not fill it,
     *             or a text is not UTF-8
     */
    public String[] keys(String prefix) throws MessageException {
        ByteBuffer in = ByteBuffer.wrap(bytes).order(LITTLE_ENDIAN);
        require(bytes.length >= FIXED_BYTES, "keys must begin with their count and hash bytes");
        int count = count();
        int hashBytes = in.getShort(HASH_BYTES) & 0xffff;
        require(count >= 1 && count <= MAX_KEYS,
                "the count of keys must be 1 to " + MAX_KEYS + ": " + count);
        in.position(FIXED_BYTES);
        return hashBytes == 0 ? texts(in, count, prefix) : hashes(in, count, hashBytes, prefix);
    }

    private String[] hashes(ByteBuffer in, int count, int hashBytes, String prefix)
            throws MessageException {
        require(hashBytes <= MAX_HASH_BYTES,
                "hash bytes must be at most " + MAX_HASH_BYTES + ": " + hashBytes);
        require(in.remaining() == count * hashBytes, count + " hashes of " + hashBytes
                + " bytes must fill the keys: " + in.remaining() + " bytes");
        String[] keys = new String[count];
        int at = FIXED_BYTES;
        for (int i = 0; i < count; i++, at += hashBytes) {
            keys[i] = prefix + HexFormat.of().formatHex(bytes, at, at + hashBytes);
        }
        return keys;
    }

    private static String[] texts(ByteBuffer in, int count, String prefix)
            throws MessageException {
        String[] keys = new String[count];
        for (int i = 0; i < count; i++) {
            require(in.remaining() >= Short.BYTES, "each key must have its length");
            int length = in.getShort() & 0xffff;
            int at = in.position();
            require(length <= in.remaining(), "a key must lie within the keys");
            require(Text.isWellFormed(in, at, length), "a key must be UTF-8");
            String key = prefix + Text.get(in, at, length);
            require(!key.isEmpty(), "a key must not be empty");
            keys[i] = key;
            in.position(at + length);
        }
        require(!in.hasRemaining(), "the keys must fill their block: " + in.remaining()
                + " bytes are left");
        return keys;
    }

    private static void require(boolean kept, String rule) throws MessageException {
        if (!kept) {
            throw new MessageException(rule);
        }
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof KeyBlock block && Arrays.equals(bytes, block.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return HexFormat.of().formatHex(bytes);
    }
}
