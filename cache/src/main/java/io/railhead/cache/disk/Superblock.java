package io.railhead.cache.disk;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The first and the last block of a volume, little-endian:
 *
 * <pre>
 *    0 "RAILHEAD"      8 format        12 CRC32C of the block with 0 here
 *   16 identifier     32 epoch         40 volume bytes   48 segment bytes
 *   56 footer bytes   60 page bytes    64 secret of the identities (32 bytes)
 *   96 1 if encrypted, else 0         100 the wrapped secret (60 bytes), instead of that at 64
 * </pre>
 *
 * @param volume the volume's identifier, made anew whenever its content is dropped
 * @param epoch the number of times it was opened
 * @param wrapped null if the volume is not encrypted
 */
record Superblock(Identifier volume, long epoch, DiskLayout layout, Secret secret,
        @Nullable Wrapped wrapped) {
    static final int FORMAT = 2;
    private static final byte[] MAGIC = "RAILHEAD".getBytes(US_ASCII);
    private static final int SUM_AT = 12;
    private static final int SECRET_BYTES = 32;

    /** 128 random bits. */
    record Identifier(long high, long low) {
        byte[] bytes() {
            return ByteBuffer.allocate(2 * Long.BYTES).putLong(high).putLong(low).array();
        }
    }

    /** 256 random bits. */
    record Secret(long first, long second, long third, long fourth) {
        byte[] bytes() {
            return ByteBuffer.allocate(SECRET_BYTES)
                    .putLong(first)
                    .putLong(second)
                    .putLong(third)
                    .putLong(fourth)
                    .array();
        }

        static Secret of(ByteBuffer bytes) {
            return new Secret(bytes.getLong(), bytes.getLong(), bytes.getLong(), bytes.getLong());
        }

        @Override
        public String toString() {
            return "...";
        }
    }

    /** @param keys null for no encryption */
    static Superblock create(DiskLayout layout, SecureRandom random,
            @Nullable WrappingKeys keys) {
        Secret secret = new Secret(random.nextLong(), random.nextLong(), random.nextLong(),
                random.nextLong());
        Identifier volume = new Identifier(random.nextLong(), random.nextLong());
        return new Superblock(volume, 1, layout, secret,
                keys == null ? null : keys.wrap(secret.bytes(), volume.bytes()));
    }

    Superblock opened() {
        return new Superblock(volume, epoch + 1, layout, secret, wrapped);
    }

    /** Returns the superblock with its secret; null if the keys are not those that wrapped it. */
    @Nullable
    Superblock tryUnlock(WrappingKeys keys) {
        byte[] bytes = wrapped == null ? null : keys.unwrap(wrapped, volume.bytes());
        return bytes == null
                ? null
                : new Superblock(volume, epoch, layout, Secret.of(ByteBuffer.wrap(bytes)),
                        wrapped);
    }

    /** Returns the superblock with its secret wrapped by the first key. */
    Superblock wrapAnew(WrappingKeys keys) {
        return new Superblock(volume, epoch, layout, secret,
                keys.wrap(secret.bytes(), volume.bytes()));
    }

    byte[] encoded() {
        ByteBuffer block = ByteBuffer.allocate(DiskLayout.UNIT_BYTES)
                .order(ByteOrder.LITTLE_ENDIAN);
        block.put(MAGIC).putInt(FORMAT).putInt(0);
        block.putLong(volume.high()).putLong(volume.low()).putLong(epoch);
        block.putLong(layout.volumeBytes()).putLong(layout.segmentBytes());
        block.putInt(layout.footerBytes()).putInt(layout.pageBytes());
        if (wrapped == null) {
            block.put(secret.bytes()).putInt(0);
        } else {
            block.put(new byte[SECRET_BYTES]).putInt(1);
            wrapped.write(block);
        }
        block.putInt(SUM_AT, sum(block.array()));
        return block.array();
    }

    /** Returns whether the block was written by some Railhead, of whatever format. */
    static boolean isOurs(byte[] block) {
        return Arrays.equals(block, 0, MAGIC.length, MAGIC, 0, MAGIC.length);
    }

    /** Returns the format of a block that {@link #isOurs}. */
    static int format(byte[] block) {
        return ByteBuffer.wrap(block).order(ByteOrder.LITTLE_ENDIAN).getInt(MAGIC.length);
    }

    /** Returns the superblock; null if the block is damaged or of another format. */
    static @Nullable Superblock decode(byte[] block) {
        if (!isOurs(block) || format(block) != FORMAT) {
            return null;
        }
        ByteBuffer in = ByteBuffer.wrap(block).order(ByteOrder.LITTLE_ENDIAN);
        if (in.getInt(SUM_AT) != sum(block)) {
            return null;
        }
        in.position(SUM_AT + Integer.BYTES);
        Identifier volume = new Identifier(in.getLong(), in.getLong());
        long epoch = in.getLong();
        long volumeBytes = in.getLong();
        long segmentBytes = in.getLong();
        DiskLayout layout;
        try {
            layout = new DiskLayout(volumeBytes, segmentBytes, in.getInt(), in.getInt());
        } catch (IllegalArgumentException e) {
            return null;
        }
        Secret secret = Secret.of(in.order(ByteOrder.BIG_ENDIAN));
        boolean encrypted = in.order(ByteOrder.LITTLE_ENDIAN).getInt() != 0;
        return new Superblock(volume, epoch, layout, secret,
                encrypted ? Wrapped.read(in) : null);
    }

    private static int sum(byte[] block) {
        CRC32C crc = new CRC32C();
        crc.update(block, 0, SUM_AT);
        crc.update(new byte[Integer.BYTES]);
        crc.update(block, SUM_AT + Integer.BYTES, block.length - SUM_AT - Integer.BYTES);
        return (int) crc.getValue();
    }
}
