package io.railhead.os.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** The common part of work requests, and checks of queue pairs' parameters. */
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

    static void requireWithin(String name, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(
                    name + " must be " + min + " to " + max + ": " + value);
        }
    }

    /** Checks an MTU: enum ibv_mtu has no other values. */
    static void requireMtu(int bytes) {
        if (bytes < 256 || bytes > 4096 || Integer.bitCount(bytes) != 1) {
            throw new IllegalArgumentException(
                    "mtuBytes must be 256, 512, 1024, 2048 or 4096: " + bytes);
        }
    }
}
