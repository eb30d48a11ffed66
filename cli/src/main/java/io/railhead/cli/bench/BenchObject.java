package io.railhead.cli.bench;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The content of benchmark objects: at each eighth offset eight bytes that tell the offset in its
 * block of 1 MiB, and in each block's first eight bytes which block it is.
 */
final class BenchObject {
    static final int BLOCK_BYTES = 1 << 20;
    private static final long MIX = 0x9e37_79b9_7f4a_7c15L;

    private BenchObject() {}

    /** The eight bytes at an offset, which is a multiple of eight, as this machine reads them. */
    static long longAt(long offset) {
        long inBlock = offset % BLOCK_BYTES;
        return ((inBlock == 0 ? offset : inBlock) + 1) * MIX;
    }

    static byte[] bytes(int count) {
        ByteBuffer bytes = ByteBuffer.allocate(count).order(ByteOrder.nativeOrder());
        while (bytes.remaining() >= Long.BYTES) {
            bytes.putLong(longAt(bytes.position()));
        }
        return bytes.array();
    }

    static String key(long bytes) {
        return "object-" + bytes;
    }
}
