package io.railhead.cache.memory;

import java.lang.foreign.MemorySegment;
import java.util.List;

/** Compares bytes that lie in several segments, cut at different places. */
final class EqualBytes {

    private EqualBytes() {}

    /** Returns whether both lists, of the same length in bytes, have the same bytes. */
    static boolean in(List<MemorySegment> some, List<MemorySegment> others) {
        int i = 0;
        int j = 0;
        long from = 0;
        long otherFrom = 0;
        while (i < some.size() && j < others.size()) {
            long left = some.get(i).byteSize() - from;
            long otherLeft = others.get(j).byteSize() - otherFrom;
            long count = Math.min(left, otherLeft);
            if (MemorySegment.mismatch(some.get(i), from, from + count, others.get(j), otherFrom,
                    otherFrom + count) >= 0) {
                return false;
            }
            i += count == left ? 1 : 0;
            j += count == otherLeft ? 1 : 0;
            from = count == left ? 0 : from + count;
            otherFrom = count == otherLeft ? 0 : otherFrom + count;
        }
        return true;
    }
}
