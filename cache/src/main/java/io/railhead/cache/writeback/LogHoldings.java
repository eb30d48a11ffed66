package io.railhead.cache.writeback;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The parts of a log that its owners have taken. Guarded by the log. */
final class LogHoldings {
    static final Held NOTHING = new Held(0, 0);

    private final Map<String, Held> byOwner = new HashMap<>();

    /**
     * The room of one owner.
     *
     * @param bytes those of its writes, in whole blocks
     * @param journalBytes those of its records in the journal, present and to come
     */
    record Held(long bytes, long journalBytes) {

        private @Nullable Held plus(Held more) {
            Held sum = new Held(bytes + more.bytes, journalBytes + more.journalBytes);
            return sum.equals(NOTHING) ? null : sum;
        }
    }

    static long bytesOf(List<Extent> extents) {
        return extents.stream().mapToLong(Extent::bytes).sum();
    }

    /** Adds what an owner takes; negative numbers give it back. */
    void add(String owner, long bytes, long journalBytes) {
        Held more = new Held(bytes, journalBytes);
        if (!owner.isEmpty() && !more.equals(NOTHING)) {
            byOwner.merge(owner, more, Held::plus);
        }
    }

    Held of(String owner) {
        return byOwner.getOrDefault(owner, NOTHING);
    }
}
