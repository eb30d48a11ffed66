package io.railhead.cache;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The cache-only objects of one {@link TenantPartition}, oldest first. An object that was read gets
 * one more round: the one that arrived first, and that nobody read since, goes first. Leased
 * objects stand apart, so that no search passes over them. They come back as the newest ones once
 * their leases have ended, a batch with each call, or all with {@link #endLeases}.
 *
 * <p> Any thread. The monitor is the innermost lock: nothing is evicted or freed within it, so a
 * caller evicts what it is given.
 */
final class CacheOnlyShare {
    /** The most objects that one call passes over, so that it holds no thread. */
    private static final int MAX_PASSED = 256;

    /** Without those that are leased. */
    private final Set<CacheOnlyObject> order = new LinkedHashSet<>();
    private final CacheOnlyLeases leases = new CacheOnlyLeases();
    /** Counts objects in the order, leased ones, and those that are reserved for. */
    private long bytes;

    /** The most that may be leased of one share, in slot bytes and in objects. */
    record LeaseLimit(long bytes, long objects) {}

    /** Returns the number of objects. */
    synchronized int count() {
        return order.size() + leases.count();
    }

    /** Returns the bytes of objects that are here or reserved for. */
    synchronized long bytes() {
        return bytes;
    }

    /**
     * Reserves room; {@link #add} or {@link #release} must follow.
     *
     * @param limitBytes the most that the share may have
     * @param nowNanos the cache's clock, by which leases end
     * @return the objects that the caller must evict; null, with nothing reserved, if too few are
     *         found among the first ones
     */
    synchronized @Nullable List<CacheOnlyObject> tryReserve(long wanted, long limitBytes,
            long nowNanos) {
        long excess = bytes + wanted - limitBytes;
        endSome(nowNanos, excess);
        List<CacheOnlyObject> oldest = excess <= 0
                ? List.of()
                : oldest(excess, Integer.MAX_VALUE);
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
    synchronized List<CacheOnlyObject> takeOldest(long wanted, long nowNanos) {
        endSome(nowNanos, wanted);
        List<CacheOnlyObject> oldest = wanted <= 0
                ? List.of()
                : oldest(wanted, Integer.MAX_VALUE);
        oldest.forEach(this::remove);
        return oldest;
    }

    /** Takes the oldest object out, whatever its size; the caller must evict it. */
    synchronized List<CacheOnlyObject> takeOldestOne(long nowNanos) {
        endSome(nowNanos, 0);
        List<CacheOnlyObject> oldest = oldest(Long.MAX_VALUE, 1);
        oldest.forEach(this::remove);
        return oldest;
    }

    /** Returns the objects to evict for so many bytes, all that may go if those are fewer. */
    private List<CacheOnlyObject> oldest(long wanted, int most) {
        List<CacheOnlyObject> found = new ArrayList<>();
        List<CacheOnlyObject> read = new ArrayList<>();
        long missing = wanted;
        Iterator<CacheOnlyObject> each = order.iterator();
        while (missing > 0 && found.size() < most && read.size() < MAX_PASSED
                && each.hasNext()) {
            CacheOnlyObject object = each.next();
            if (object.wasReadSinceLastAsked()) {
                each.remove();
                read.add(object);
            } else {
                found.add(object);
                missing -= object.slotBytes();
            }
        }
        order.addAll(read);
        for (int i = 0; missing > 0 && found.size() < most && i < read.size(); i++) {
            found.add(read.get(i));
            missing -= read.get(i).slotBytes();
        }
        return found;
    }

    private static long slotBytes(List<CacheOnlyObject> objects) {
        return objects.stream().mapToLong(CacheOnlyObject::slotBytes).sum();
    }

    /**
     * Leases an object, so that it is not evicted for room until then. An earlier lease of it stays
     * if it ends later.
     *
     * @return false, with nothing changed, if the object is not here, or if more than the limit
     *         would be leased; so a lease is not renewed either where the limit has shrunk
     */
    synchronized boolean tryLease(CacheOnlyObject object, long nowNanos, long endNanos,
            LeaseLimit limit) {
        endSome(nowNanos, object.slotBytes());
        if (leases.tryTakeEnded(object, nowNanos)) {
            order.add(object);
        }
        boolean isLeased = leases.contains(object, nowNanos);
        if (!isLeased && !order.contains(object)) {
            return false;
        }
        if (!fits(isLeased ? 0 : object.slotBytes(), isLeased ? 0 : 1, limit)) {
            return false;
        }
        boolean _ = order.remove(object);
        leases.put(object, endNanos);
        return true;
    }

    /** Returns whether an object that is not here could be leased now if it were. */
    synchronized boolean hasRoomForLease(CacheOnlyObject object, long nowNanos,
            LeaseLimit limit) {
        endSome(nowNanos, object.slotBytes());
        return fits(object.slotBytes(), 1, limit);
    }

    private boolean fits(long moreBytes, long moreObjects, LeaseLimit limit) {
        return leases.bytes() + moreBytes <= limit.bytes()
                && leases.count() + moreObjects <= limit.objects();
    }

    /** Returns whether an object is leased. */
    synchronized boolean isLeased(CacheOnlyObject object, long nowNanos) {
        return leases.contains(object, nowNanos);
    }

    /**
     * Returns the bytes of leased objects. Where more leases have ended than one call takes out,
     * the others count until {@link #endLeases}.
     */
    synchronized long leasedBytes(long nowNanos) {
        endSome(nowNanos, 0);
        return leases.bytes();
    }

    /** Ends all leases whose time is over, a batch at a time, so that others wait for none. */
    // A yield is a hint; nothing relies on it.
    @SuppressWarnings("ThreadPriorityCheck")
    void endLeases(long nowNanos) {
        boolean more = true;
        while (more) {
            synchronized (this) {
                endSome(nowNanos, 0);
                more = leases.haveEnded(nowNanos);
            }
            Thread.yield();
        }
    }

    private void endSome(long nowNanos, long wantedBytes) {
        order.addAll(leases.takeEnded(nowNanos, MAX_PASSED, wantedBytes));
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
        boolean removed = order.remove(object) || leases.remove(object);
        if (removed) {
            bytes -= object.slotBytes();
        }
        return removed;
    }
}
