package io.railhead.os;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * An SCM_RIGHTS control message, as 64-bit Linux lays it out.
 *
 * <pre>
 *   0        8       12      16
 *   │ length │ level │ type  │ descriptor │ …
 * </pre>
 */
final class RightsControl {
    static final long LEVEL = 8;
    static final long TYPE = 12;
    static final long DESCRIPTORS = 16;
    static final int SOL_SOCKET = 1;
    static final int SCM_RIGHTS = 1;

    private RightsControl() {}

    /** Allocates room for exactly this many descriptors: rounding up would let one more in. */
    static MemorySegment allocate(Arena arena, int descriptors) {
        return arena.allocate(DESCRIPTORS + (long) descriptors * Integer.BYTES, Long.BYTES);
    }

    /** Returns the control message that passes these descriptors; NULL for none. */
    static MemorySegment of(Arena arena, int... descriptors) {
        if (descriptors.length == 0) {
            return MemorySegment.NULL;
        }
        MemorySegment control = allocate(arena, descriptors.length);
        control.set(JAVA_LONG, 0, control.byteSize());
        control.set(JAVA_INT, LEVEL, SOL_SOCKET);
        control.set(JAVA_INT, TYPE, SCM_RIGHTS);
        for (int i = 0; i < descriptors.length; i++) {
            control.set(JAVA_INT, DESCRIPTORS + (long) i * Integer.BYTES, descriptors[i]);
        }
        return control;
    }

    /** Returns the first descriptor in the part that the kernel filled; -1 if there is none. */
    static int first(MemorySegment control, long filled) {
        boolean rights = filled >= DESCRIPTORS + Integer.BYTES
                && control.get(JAVA_INT, LEVEL) == SOL_SOCKET
                && control.get(JAVA_INT, TYPE) == SCM_RIGHTS;
        return rights ? control.get(JAVA_INT, DESCRIPTORS) : -1;
    }
}
