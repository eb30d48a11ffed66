package io.railhead.cache;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** Counts evicted pages by cause. Any thread. */
final class EvictionCounts {
    private final Map<EvictionCause, LongAdder> counts = new EnumMap<>(EvictionCause.class);

    EvictionCounts() {
        for (EvictionCause cause : EvictionCause.values()) {
            counts.put(cause, new LongAdder());
        }
    }

    void count(EvictionCause cause) {
        LongAdder adder = counts.get(cause);
        if (adder != null) {
            adder.increment();
        }
    }

    /** Returns all causes, with 0 for those that never occurred. */
    Map<EvictionCause, Long> byCause() {
        Map<EvictionCause, Long> sums = new EnumMap<>(EvictionCause.class);
        counts.forEach((cause, adder) -> sums.put(cause, adder.sum()));
        return sums;
    }
}
