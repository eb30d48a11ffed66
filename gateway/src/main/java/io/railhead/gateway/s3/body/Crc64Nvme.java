package io.railhead.gateway.s3.body;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.zip.Checksum;

/**
 * CRC-64/NVME, S3's default for whole objects: reflected, eight bytes at a time through eight
 * tables ("slicing by 8"). Four lanes run at once, since the lookups of one lane depend on each
 * other. Single-threaded.
 *
 * <pre>
 *   4 KiB:  | lane 0 | lane 1 | lane 2 | lane 3 |    each begins at zero, but the first
 *   state = zeros(zeros(zeros(0) ^ 1) ^ 2) ^ 3       zeros: as if a lane of zeros followed
 * </pre>
 */
public final class Crc64Nvme implements Checksum {
    private static final long POLYNOMIAL_REFLECTED = 0x9A6C9329AC4BC9B5L;
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class,
            ByteOrder.LITTLE_ENDIAN);
    private static final int LANE = 1 << 10;
    private static final int BLOCK = 4 * LANE;
    private static final int TABLE = 256;
    /**
     * Indexed by the number of the eight bytes that follow, then by the byte. One array, whose
     * length the compiler knows.
     */
    private static final long[] TABLES = tables();
    /** The effect of a lane of zeros on a state, byte by byte: the bytes are independent. */
    private static final long[] ZEROS = zeros();

    private long state = -1;

    private static long[] tables() {
        long[] tables = new long[Long.BYTES * TABLE];
        for (int i = 0; i < TABLE; i++) {
            long crc = i;
            for (int bit = 0; bit < 8; bit++) {
                crc = (crc & 1) == 0 ? crc >>> 1 : crc >>> 1 ^ POLYNOMIAL_REFLECTED;
            }
            tables[i] = crc;
        }
        for (int i = TABLE; i < tables.length; i++) {
            long before = tables[i - TABLE];
            tables[i] = tables[(int) before & 0xFF] ^ before >>> 8;
        }
        return tables;
    }

    private static long[] zeros() {
        long[] zeros = new long[Long.BYTES * TABLE];
        for (int bit = 0; bit < Long.SIZE; bit++) {
            long crc = 1L << bit;
            for (int i = 0; i < LANE; i += Long.BYTES) {
                crc = eight(crc);
            }
            int first = (bit / 8) * TABLE;
            int step = 1 << (bit % 8);
            for (int i = step; i < 2 * step; i++) {
                zeros[first + i] = zeros[first + i - step] ^ crc;
            }
        }
        return zeros;
    }

    /** Returns the state after eight bytes that were combined with the earlier state. */
    private static long eight(long x) {
        long[] t = TABLES;
        return t[7 * TABLE + ((int) x & 0xFF)] ^ t[6 * TABLE + ((int) (x >>> 8) & 0xFF)]
                ^ t[5 * TABLE + ((int) (x >>> 16) & 0xFF)]
                ^ t[4 * TABLE + ((int) (x >>> 24) & 0xFF)]
                ^ t[3 * TABLE + ((int) (x >>> 32) & 0xFF)]
                ^ t[2 * TABLE + ((int) (x >>> 40) & 0xFF)]
                ^ t[TABLE + ((int) (x >>> 48) & 0xFF)] ^ t[(int) (x >>> 56)];
    }

    private static long afterZeros(long crc) {
        long after = 0;
        for (int i = 0; i < Long.BYTES; i++) {
            after ^= ZEROS[i * TABLE + ((int) (crc >>> (8 * i)) & 0xFF)];
        }
        return after;
    }

    private static long block(long crc, byte[] bytes, int offset) {
        long first = crc;
        long second = 0;
        long third = 0;
        long fourth = 0;
        for (int i = offset; i < offset + LANE; i += Long.BYTES) {
            first = eight(first ^ (long) LONGS.get(bytes, i));
            second = eight(second ^ (long) LONGS.get(bytes, i + LANE));
            third = eight(third ^ (long) LONGS.get(bytes, i + 2 * LANE));
            fourth = eight(fourth ^ (long) LONGS.get(bytes, i + 3 * LANE));
        }
        return afterZeros(afterZeros(afterZeros(first) ^ second) ^ third) ^ fourth;
    }

    @Override
    public void update(int b) {
        state = TABLES[(int) (state ^ b) & 0xFF] ^ state >>> 8;
    }

    @Override
    public void update(byte[] bytes, int offset, int length) {
        int end = offset + length;
        int i = offset;
        long crc = state;
        for (; i <= end - BLOCK; i += BLOCK) {
            crc = block(crc, bytes, i);
        }
        for (; i <= end - Long.BYTES; i += Long.BYTES) {
            crc = eight(crc ^ (long) LONGS.get(bytes, i));
        }
        state = crc;
        for (; i < end; i++) {
            update(bytes[i]);
        }
    }

    @Override
    public long getValue() {
        return ~state;
    }

    @Override
    public void reset() {
        state = -1;
    }
}
