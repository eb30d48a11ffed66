package io.railhead.cache;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * The leased objects of one {@link CacheOnlyShare}, by the ends of their leases. Guarded by the
 * share's monitor.
 */
final class CacheOnlyLeases {
    // Differences, since the clock may run over.
    private static final Comparator<Lease> BY_END = (one, other) -> one.endNanos == other.endNanos
            ? Long.compare(one.number, other.number)
            : Long.signum(one.endNanos - other.endNanos);

    private final Map<CacheOnlyObject, Lease> byObject = new HashMap<>();
    private final TreeSet<Lease> byEnd = new TreeSet<>(BY_END);
    private long bytes;
    private long last;

    private record Lease(CacheOnlyObject object, long endNanos, long number) {}

    int count() {
        return byObject.size();
    }

    /** Returns the bytes that leased objects take from memory. */
    long bytes() {
        return bytes;
    }

    boolean contains(CacheOnlyObject object) {
        return byObject.containsKey(object);
    }

    /** Leases an object until then; a lease that ends later stays. */
    void put(CacheOnlyObject object, long endNanos) {
        Lease before = byObject.get(object);
        if (before != null && before.endNanos - endNanos >= 0) {
            return;
        }
        if (before == null) {
            bytes += object.slotBytes();
        } else {
            byEnd.remove(before);
        }
        Lease lease = new Lease(object, endNanos, last++);
        byObject.put(object, lease);
        byEnd.add(lease);
    }

    /** Ends an object's lease; false if there is none. */
    boolean remove(CacheOnlyObject object) {
        Lease lease = byObject.remove(object);
        if (lease == null) {
            return false;
        }
        byEnd.remove(lease);
        bytes -= object.slotBytes();
        return true;
    }

    /** Ends the leases whose time is over, and returns their objects. */
    List<CacheOnlyObject> takeEnded(long nowNanos) {
        if (byEnd.isEmpty() || byEnd.first().endNanos - nowNanos > 0) {
            return List.of();
        }
        List<CacheOnlyObject> ended = new ArrayList<>();
        while (!byEnd.isEmpty() && byEnd.first().endNanos - nowNanos <= 0) {
            CacheOnlyObject object = byEnd.first().object;
            boolean _ = remove(object);
            ended.add(object);
        }
        return ended;
    }
}
