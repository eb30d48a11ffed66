package io.railhead.cache;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counts the writes of each key, before and after, so that what was learnt before a write is not
 * mistaken for what holds after it. A key counts as one in every namespace: the store may show the
 * same object to several accounts. Keys share striped counters: a neighbour's write only costs a
 * missed indexing. Open writes are counted exactly.
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
        // The usual case makes nothing: this is asked at each hit.
        return !open.isEmpty() && open.containsKey(Name.of(id));
    }

    /** Whether nothing was written since, and nothing is being written. */
    boolean holds(ObjectId id, long generation) {
        return of(id) == generation && !isBeingWritten(id);
    }

    /** Returns the generation that begins. */
    long begin(ObjectId id) {
        open.merge(Name.of(id), 1, Integer::sum);
        return bump(id);
    }

    /** Returns the generation that begins. */
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
