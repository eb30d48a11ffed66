package io.railhead.gateway.trust;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Collection;
import java.util.HexFormat;

/**
 * An object's bytes, which say at every sixteenth offset whose they are and where they belong:
 * versions that are mixed, shifted or cut show wherever it happens.
 *
 * @param id one for each upload of a run
 */
public record Content(long id, int sizeBytes) {
    /** The id of an object without bytes, which cannot tell. */
    public static final long EMPTY = 0;
    public static final int BLOCK = 16;

    public Content {
        if (sizeBytes != 0 && sizeBytes < BLOCK) {
            throw new IllegalArgumentException("sizeBytes must be 0 or >= 16: " + sizeBytes);
        }
        id = sizeBytes == 0 ? EMPTY : id;
    }

    /** A new one; its id tells its size, too. */
    public static Content create(int number, int sizeBytes) {
        return new Content(((long) number << Integer.SIZE) + sizeBytes, sizeBytes);
    }

    /** Whether so many bytes are all that it had when it was made. */
    public boolean isWhole() {
        return (int) id == sizeBytes;
    }

    /** As the bytes say. */
    public static Content of(byte[] bytes) {
        return bytes.length < BLOCK
                ? new Content(EMPTY, 0)
                : new Content(ByteBuffer.wrap(bytes).getLong(), bytes.length);
    }

    public byte[] bytes() {
        return bytes(0, sizeBytes);
    }

    public byte[] bytes(int from, int to) {
        int first = from / BLOCK * BLOCK;
        ByteBuffer blocks = ByteBuffer.allocate((to - first + BLOCK - 1) / BLOCK * BLOCK);
        for (int at = first; at < to; at += BLOCK) {
            blocks.putLong(id).putLong(at ^ id * 0x9E3779B97F4A7C15L);
        }
        return first == from && blocks.capacity() == to - from
                ? blocks.array()
                : Arrays.copyOfRange(blocks.array(), from - first, to - first);
    }

    /** Whether these are the bytes from there on. */
    public boolean matches(byte[] bytes, int from) {
        return from + bytes.length <= sizeBytes
                && Arrays.equals(bytes, bytes(from, from + bytes.length));
    }

    /** The MD5 of the bytes, as S3 has it: also that of a copy. Computed at each call. */
    public String etag() {
        return etag(bytes());
    }

    static String etag(byte[] bytes) {
        return '"' + HexFormat.of().formatHex(md5(bytes)) + '"';
    }

    /** The ETag of an object that was uploaded in parts. */
    static String etag(Collection<byte[]> parts) {
        ByteArrayOutputStream sums = new ByteArrayOutputStream();
        parts.forEach(part -> sums.writeBytes(md5(part)));
        return '"' + HexFormat.of().formatHex(md5(sums.toByteArray())) + '-' + parts.size() + '"';
    }

    private static byte[] md5(byte[] bytes) {
        try {
            return MessageDigest.getInstance("MD5").digest(bytes);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
