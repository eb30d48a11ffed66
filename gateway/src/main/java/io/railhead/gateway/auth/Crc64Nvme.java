package io.railhead.gateway.auth;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.zip.Checksum;

/**
 * CRC-64/NVME, which S3 gives to whole objects: reflected, eight bytes at a time through eight
 * tables ("slicing by 8"). Single-threaded.
 */
public final class Crc64Nvme implements Checksum {
    private static final long POLYNOMIAL_REFLECTED = 0x9A6C9329AC4BC9B5L;
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class,
            ByteOrder.LITTLE_ENDIAN);
    private static final long[][] TABLES = tables();

    private long state = -1;

    private static long[][] tables() {
        long[][] tables = new long[8][256];
        for (int i = 0; i < 256; i++) {
            long crc = i;
            for (int bit = 0; bit < 8; bit++) {
                crc = (crc & 1) == 0 ? crc >>> 1 : crc >>> 1 ^ POLYNOMIAL_REFLECTED;
            }
            tables[0][i] = crc;
        }
        for (int i = 0; i < 256; i++) {
            for (int k = 1; k < 8; k++) {
                long before = tables[k - 1][i];
                tables[k][i] = tables[0][(int) before & 0xFF] ^ before >>> 8;
            }
        }
        return tables;
    }

    @Override
    public void update(int b) {
        state = TABLES[0][(int) (state ^ b) & 0xFF] ^ state >>> 8;
    }

    @Override
    public void update(byte[] bytes, int offset, int length) {
        int end = offset + length;
        int i = offset;
        long crc = state;
        long[][] t = TABLES;
        for (; i <= end - Long.BYTES; i += Long.BYTES) {
            long x = crc ^ (long) LONGS.get(bytes, i);
            crc = t[7][(int) x & 0xFF] ^ t[6][(int) (x >>> 8) & 0xFF]
                    ^ t[5][(int) (x >>> 16) & 0xFF] ^ t[4][(int) (x >>> 24) & 0xFF]
                    ^ t[3][(int) (x >>> 32) & 0xFF] ^ t[2][(int) (x >>> 40) & 0xFF]
                    ^ t[1][(int) (x >>> 48) & 0xFF] ^ t[0][(int) (x >>> 56)];
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
