package io.railhead.protocol.channel;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.nio.ByteBuffer;

/**
 * The bucket and key of a request as bytes. The hit path keeps these, so that it decodes no name
 * that it knows. Immutable.
 */
public final class ObjectNameBytes {
    private final ByteBuffer bytes;
    private final int bucketBytes;
    private final int hash;

    private ObjectNameBytes(ByteBuffer bytes, int bucketBytes) {
        this.bytes = bytes;
        this.bucketBytes = bucketBytes;
        this.hash = hash(bytes, 0, bytes.capacity(), bucketBytes);
    }

    static ObjectNameBytes copy(ByteBuffer from, int at, int bucketBytes, int keyBytes) {
        byte[] copy = new byte[bucketBytes + keyBytes];
        from.get(at, copy);
        return new ObjectNameBytes(ByteBuffer.wrap(copy).order(LITTLE_ENDIAN), bucketBytes);
    }

    public String bucket() {
        return Text.get(bytes, 0, bucketBytes);
    }

    public String key() {
        return Text.get(bytes, bucketBytes, bytes.capacity() - bucketBytes);
    }

    boolean isAt(ByteBuffer other, int at, int otherBucketBytes, int otherKeyBytes) {
        int length = bytes.capacity();
        if (bucketBytes != otherBucketBytes || length != otherBucketBytes + otherKeyBytes) {
            return false;
        }
        int i = 0;
        for (; i + Long.BYTES <= length; i += Long.BYTES) {
            if (bytes.getLong(i) != other.getLong(at + i)) {
                return false;
            }
        }
        for (; i < length; i++) {
            if (bytes.get(i) != other.get(at + i)) {
                return false;
            }
        }
        return true;
    }

    /**
     * A fast hash, which does not resist deliberate collisions: use it only where they cost little.
     */
    static int hash(ByteBuffer bytes, int at, int length, int bucketBytes) {
        long hash = bucketBytes;
        int i = 0;
        for (; i + Long.BYTES <= length; i += Long.BYTES) {
            hash = mixed(hash ^ bytes.getLong(at + i));
        }
        for (; i < length; i++) {
            hash = mixed(hash ^ bytes.get(at + i));
        }
        return (int) hash;
    }

    private static long mixed(long hash) {
        long product = hash * 0x9e3779b97f4a7c15L;
        return product ^ product >>> 32;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ObjectNameBytes name
                && name.isAt(bytes, 0, bucketBytes, bytes.capacity() - bucketBytes);
    }

    @Override
    public int hashCode() {
        return hash;
    }

    @Override
    public String toString() {
        return bucket() + "/" + key();
    }
}
