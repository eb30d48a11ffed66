package io.railhead.os.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** What prepared sends and receives have in common. */
final class WorkRequests {
    static final ValueLayout.OfInt BIG_ENDIAN_INT = JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);

    private WorkRequests() {}

    static void entry(MemorySegment memory, long offset, long address, int bytes, int lkey) {
        memory.set(JAVA_LONG, offset + Layout.Sge.ADDR, address);
        memory.set(JAVA_INT, offset + Layout.Sge.LENGTH, bytes);
        memory.set(JAVA_INT, offset + Layout.Sge.LKEY, lkey);
    }

    static int requirePositive(String name, int value) {
        if (value <= 0) {
            throw new IllegalArgumentException(name + " must be > 0: " + value);
        }
        return value;
    }
}
