package io.railhead.os.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/**
 * The process's memory by address, for reading a library's structures. Nothing is checked: an
 * address comes from the library, and is read only while its object lives.
 */
final class Memory {
    @SuppressWarnings("restricted")
    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private Memory() {}

    static byte getByte(long address) {
        return ALL.get(JAVA_BYTE, address);
    }

    static int getInt(long address) {
        return ALL.get(JAVA_INT, address);
    }

    static long getLong(long address) {
        return ALL.get(JAVA_LONG, address);
    }

    static void putLong(long address, long value) {
        ALL.set(JAVA_LONG, address, value);
    }

    static MemorySegment view(long address, long bytes) {
        return ALL.asSlice(address, bytes);
    }

    static String getString(long address) {
        return ALL.getString(address);
    }
}
