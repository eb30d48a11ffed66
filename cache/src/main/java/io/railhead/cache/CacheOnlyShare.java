package io.railhead.cache;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The cache-only objects of one {@link TenantPartition}, oldest first. An object that was read gets
 * one more round, and so does one that is kept: the one that arrived first, and that nobody read
 * since, goes first.
 *
 * <p> Any thread. The monitor is the innermost lock: nothing is evicted or freed within it, so a
 * caller evicts what it is given.
 */
final class CacheOnlyShare {
    /** The most objects that one call passes over, so that it holds no thread. */
    private static final int MAX_PASSED = 256;

    private final Set<CacheOnlyObject> order = new LinkedHashSet<>();
    /** Counts objects in the order, and those that are reserved for. */
    private long bytes;

    /** Returns the number of objects. */
    synchronized int count() {
        return order.size();
    }

    /** Returns the bytes of objects that are here or reserved for. */
    synchronized long bytes() {
        return bytes;
    }

    /**
     * Reserves room; {@link #add} or {@link #release} must follow.
     *
     * @param limitBytes the most that the share may have
     * @param isKept whether an object must not be evicted
     * @return the objects that the caller must evict; null, with nothing reserved, if too few are
     *         found among the first ones
     */
    synchronized @Nullable List<CacheOnlyObject> tryReserve(long wanted, long limitBytes,
            Predicate<CacheOnlyObject> isKept) {
        long excess = bytes + wanted - limitBytes;
        List<CacheOnlyObject> oldest = excess <= 0
                ? List.of()
                : oldest(excess, Integer.MAX_VALUE, isKept);
        if (excess > 0 && slotBytes(oldest) < excess) {
            return null;
        }
        oldest.forEach(this::remove);
        bytes += wanted;
        return oldest;
    }

    /**
     * Takes the oldest objects out, at least so many bytes if there are; the caller must evict
     * them.
     */
    synchronized List<CacheOnlyObject> takeOldest(long wanted, Predicate<CacheOnlyObject> isKept) {
        List<CacheOnlyObject> oldest = wanted <= 0
                ? List.of()
                : oldest(wanted, Integer.MAX_VALUE, isKept);
        oldest.forEach(this::remove);
        return oldest;
    }

    /** Takes the oldest object out, whatever its size; the caller must evict it. */
    synchronized List<CacheOnlyObject> takeOldest(Predicate<CacheOnlyObject> isKept) {
        List<CacheOnlyObject> oldest = oldest(Long.MAX_VALUE, 1, isKept);
        oldest.forEach(this::remove);
        return oldest;
    }

    /** Returns the objects to evict for so many bytes, all that may go if those are fewer. */
    private List<CacheOnlyObject> oldest(long wanted, int most,
            Predicate<CacheOnlyObject> isKept) {
        List<CacheOnlyObject> found = new ArrayList<>();
        List<CacheOnlyObject> kept = new ArrayList<>();
        List<CacheOnlyObject> read = new ArrayList<>();
        long missing = wanted;
        Iterator<CacheOnlyObject> each = order.iterator();
        while (missing > 0 && found.size() < most && read.size() + kept.size() < MAX_PASSED
                && each.hasNext()) {
            CacheOnlyObject object = each.next();
            if (isKept.test(object)) {
                each.remove();
                kept.add(object);
            } else if (object.wasReadSinceLastAsked()) {
                each.remove();
                read.add(object);
            } else {
                found.add(object);
                missing -= object.slotBytes();
            }
        }
        order.addAll(read);
        order.addAll(kept);
        for (int i = 0; missing > 0 && found.size() < most && i < read.size(); i++) {
            found.add(read.get(i));
            missing -= read.get(i).slotBytes();
        }
        return found;
    }

    private static long slotBytes(List<CacheOnlyObject> objects) {
        return objects.stream().mapToLong(CacheOnlyObject::slotBytes).sum();
    }

    /** Adds an object that was reserved for. */
    synchronized void add(CacheOnlyObject object) {
        order.add(object);
    }

    /** Gives up a reservation. */
    synchronized void release(long reserved) {
        bytes -= reserved;
    }

    /** Removes an object; false if it is not here any more. */
    synchronized boolean remove(CacheOnlyObject object) {
        boolean removed = order.remove(object);
        if (removed) {
            bytes -= object.slotBytes();
        }
        return removed;
    }
}
