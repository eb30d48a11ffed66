package io.railhead.cache;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * The leased objects of one {@link CacheOnlyShare}, by the ends of their leases. Many leases may
 * end at once, so they are taken out in batches; one that has ended but is still here protects
 * nothing. Guarded by the share's monitor.
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

    private record Lease(CacheOnlyObject object, long endNanos, long number) {
        boolean hasEnded(long nowNanos) {
            return endNanos - nowNanos <= 0;
        }
    }

    int count() {
        return byObject.size();
    }

    /** Returns the bytes that the objects here take from memory. */
    long bytes() {
        return bytes;
    }

    /** Returns whether an object has a lease that has not ended. */
    boolean contains(CacheOnlyObject object, long nowNanos) {
        Lease lease = byObject.get(object);
        return lease != null && !lease.hasEnded(nowNanos);
    }

    /** Takes an object out whose lease has ended; false if it is not such a one. */
    boolean tryTakeEnded(CacheOnlyObject object, long nowNanos) {
        Lease lease = byObject.get(object);
        return lease != null && lease.hasEnded(nowNanos) && remove(object);
    }

    /** Returns whether some lease here has ended. */
    boolean haveEnded(long nowNanos) {
        return !byEnd.isEmpty() && byEnd.first().hasEnded(nowNanos);
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

    /**
     * Takes objects out whose leases have ended, those that ended first.
     *
     * @param most the most objects, unless more are needed for the bytes
     * @param wantedBytes of objects that the caller will evict, so that more may be taken out
     */
    List<CacheOnlyObject> takeEnded(long nowNanos, int most, long wantedBytes) {
        if (!haveEnded(nowNanos)) {
            return List.of();
        }
        List<CacheOnlyObject> ended = new ArrayList<>();
        long before = bytes;
        while (haveEnded(nowNanos) && (ended.size() < most || before - bytes < wantedBytes)) {
            CacheOnlyObject object = byEnd.first().object;
            boolean _ = remove(object);
            ended.add(object);
        }
        return ended;
    }
}
