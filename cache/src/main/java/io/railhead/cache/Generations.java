package io.railhead.cache;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counts the writes of each key, before and after, so that what was learnt before a write is not
 * mistaken for what holds after it. Keys share striped counters: a neighbour's write only costs a
 * missed indexing. Open writes are counted exactly.
 */
final class Generations {
    private static final int STRIPES = 1 << 14;

    private final AtomicLongArray stripes = new AtomicLongArray(STRIPES);
    private final ConcurrentMap<ObjectId, Integer> open = new ConcurrentHashMap<>();

    long of(ObjectId id) {
        return stripes.get(stripe(id));
    }

    boolean isBeingWritten(ObjectId id) {
        return open.containsKey(id.current());
    }

    /** Whether nothing was written since, and nothing is being written. */
    boolean holds(ObjectId id, long generation) {
        return of(id) == generation && !isBeingWritten(id);
    }

    void begin(ObjectId id) {
        open.merge(id.current(), 1, Integer::sum);
        bump(id);
    }

    void bump(ObjectId id) {
        stripes.incrementAndGet(stripe(id));
    }

    void end(ObjectId id) {
        open.computeIfPresent(id.current(), (key, count) -> count == 1 ? null : count - 1);
    }

    private static int stripe(ObjectId id) {
        int hash = id.current().hashCode() * 0x9E3779B9;
        return hash >>> 18;
    }
}
