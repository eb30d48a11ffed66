package io.railhead.cache.disk;

import io.railhead.cache.disk.DiskStats.NotKept;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** The tier's counters. Any thread. */
final class DiskCounters {
    final LongAdder readPages = new LongAdder();
    final LongAdder readBytes = new LongAdder();
    final LongAdder writtenPages = new LongAdder();
    final LongAdder errors = new LongAdder();
    final LongAdder hangs = new LongAdder();
    /** Memory of pages that wait to be written or are being written. */
    final AtomicLong queuedBytes = new AtomicLong();
    private final Map<NotKept, LongAdder> notKept = new EnumMap<>(NotKept.class);

    DiskCounters() {
        for (NotKept reason : NotKept.values()) {
            notKept.put(reason, new LongAdder());
        }
    }

    void count(NotKept reason) {
        LongAdder counter = notKept.get(reason);
        if (counter != null) {
            counter.increment();
        }
    }

    Map<NotKept, Long> notKept() {
        Map<NotKept, Long> counts = new EnumMap<>(NotKept.class);
        notKept.forEach((reason, count) -> counts.put(reason, count.sum()));
        return counts;
    }
}
