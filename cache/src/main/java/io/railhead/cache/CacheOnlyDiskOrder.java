package io.railhead.cache;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The cache-only objects of one {@link TenantPartition} that are on disk, in the order in which
 * they went there. Any thread, but {@link #next}; an object comes and goes with its place.
 */
final class CacheOnlyDiskOrder {
    private final AtomicLong last = new AtomicLong();
    private final ConcurrentNavigableMap<Long, CacheOnlyObject> byNumber = new ConcurrentSkipListMap<>();
    /** The map's size, which the map itself would have to count. */
    private final AtomicInteger count = new AtomicInteger();
    /** The last object that {@link #next} returned. */
    private long lookedAt;

    void add(CacheOnlyObject object) {
        object.diskNumber(last.incrementAndGet());
        byNumber.put(object.diskNumber(), object);
        count.incrementAndGet();
    }

    /** Removes an object, if it is here. */
    void remove(CacheOnlyObject object) {
        if (byNumber.remove(object.diskNumber(), object)) {
            count.decrementAndGet();
        }
    }

    int count() {
        return count.get();
    }

    /** Returns the object that has been on disk for longest; null if there is none. */
    @Nullable
    CacheOnlyObject oldest() {
        Map.Entry<Long, CacheOnlyObject> first = byNumber.firstEntry();
        return first == null ? null : first.getValue();
    }

    /** Returns the next objects, round by round; none at the end of a round. One thread. */
    List<CacheOnlyObject> next(int most) {
        List<CacheOnlyObject> next = byNumber.tailMap(lookedAt, false)
                .values()
                .stream()
                .limit(most)
                .toList();
        lookedAt = next.isEmpty() ? 0 : next.getLast().diskNumber();
        return next;
    }
}
