package io.railhead.cache;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counts the writes of each key, at their begin and end, so that knowledge from before a write is
 * not cached after it. A key is the same in every namespace: the store may show one object to
 * several accounts. Keys share striped counters: a neighbour's write only costs a missed indexing.
 * Open writes are counted exactly.
 */
final class WriteEpochs {
    private static final int STRIPES = 1 << 14;

    private final AtomicLongArray stripes = new AtomicLongArray(STRIPES);
    private final ConcurrentMap<Name, Integer> open = new ConcurrentHashMap<>();

    private record Name(String backend, String bucket, String key) {
        static Name of(ObjectId id) {
            return new Name(id.backend(), id.bucket(), id.key());
        }
    }

    long of(ObjectId id) {
        return stripes.get(stripe(id));
    }

    boolean isBeingWritten(ObjectId id) {
        // Each hit asks this, so the usual case allocates nothing.
        return !open.isEmpty() && open.containsKey(Name.of(id));
    }

    /** Returns whether no write has happened since, and none is open. */
    boolean holds(ObjectId id, long generation) {
        return of(id) == generation && !isBeingWritten(id);
    }

    /** Returns the new write epoch. */
    long begin(ObjectId id) {
        open.merge(Name.of(id), 1, Integer::sum);
        return bump(id);
    }

    /** Returns the new write epoch. */
    long bump(ObjectId id) {
        return stripes.incrementAndGet(stripe(id));
    }

    void end(ObjectId id) {
        open.computeIfPresent(Name.of(id), (key, count) -> count == 1 ? null : count - 1);
    }

    private static int stripe(ObjectId id) {
        int hash = (id.backend().hashCode() * 31 + id.bucket().hashCode()) * 31
                + id.key().hashCode();
        return (hash * 0x9E3779B9) >>> 18;
    }
}
