package io.railhead.cache;

import io.railhead.cache.memory.Page;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An operator's control of the cache: evict objects, or pin them. Any thread; a call looks at
 * everything that is held, so it belongs on no event loop.
 */
public final class CacheControl {
    /** Each page that is filled is held against all of them. */
    private static final int MAX_PINS = 1000;

    private final ObjectCache cache;
    private final FillTable table;
    private final PageIndex index;
    private final Pins pins;

    CacheControl(ObjectCache cache, FillTable table, PageIndex index, Pins pins) {
        this.cache = cache;
        this.table = table;
        this.index = index;
        this.pins = pins;
    }

    /**
     * A part of what is held.
     *
     * @param bytes of memory, which is handed out in slots
     */
    public record Held(long objects, long bytes) {}

    /** One selection, and what it keeps pinned now. */
    public record Pinned(Selection selection, Held held) {}

    /**
     * Forgets what it covers and is held or being learnt, pinned or not. Leases run on, and what is
     * read afterwards is fetched, and pinned again where a pin covers it.
     *
     * @return what was held
     */
    public Held evict(Selection selection) {
        List<PageKey> keys = index.covered(selection);
        Set<ObjectId> objects = new HashSet<>();
        keys.forEach(key -> objects.add(key.version().object()));
        long bytes = keys.stream().mapToLong(key -> bytesOf(index.peek(key))).sum();
        Set<ObjectId> learning = new HashSet<>(objects);
        cache.forEachKnown(id -> addCovered(selection, id, learning));
        learning.stream().filter(id -> cache.find(id) != null).forEach(objects::add);
        table.forEachInFlight(id -> addCovered(selection, id, learning));
        // First nothing more is kept of what is on its way, then what is here goes.
        learning.forEach(id -> cache.invalidate(id, EvictionCause.ADMIN));
        index.covered(selection).forEach(key -> index.remove(key, EvictionCause.ADMIN));
        return new Held(objects.size(), bytes);
    }

    private static void addCovered(Selection selection, ObjectId id, Set<ObjectId> into) {
        if (selection.covers(id)) {
            into.add(id);
        }
    }

    private static long bytesOf(@Nullable Page page) {
        return page == null ? 0 : page.slotBytes();
    }

    /**
     * Keeps what it covers from being evicted: what is held, and what will be, until the limit is
     * reached. A write or an event still removes it.
     *
     * @return false, with nothing changed, where the limit does not allow what is held already, or
     *         there are too many pins
     */
    public synchronized boolean tryPin(Selection selection) {
        if (pins.selections().contains(selection)) {
            return true;
        }
        if (pins.selections().size() == MAX_PINS) {
            return false;
        }
        pins.add(selection);
        if (index.settle(selection)) {
            return true;
        }
        unpin(selection);
        return false;
    }

    /**
     * Takes a pin away; what it covered may be evicted unless another pin covers it.
     *
     * @return false where there is no such pin
     */
    public synchronized boolean unpin(Selection selection) {
        boolean removed = pins.remove(selection);
        index.settle(selection);
        return removed;
    }

    /** Every pin, in the order that they came; several may cover the same object. */
    public List<Pinned> pins() {
        Map<ObjectId, Long> pinned = index.pinnedBytes();
        List<Pinned> all = new ArrayList<>();
        for (Selection selection : pins.selections()) {
            List<Long> covered = pinned.entrySet()
                    .stream()
                    .filter(entry -> selection.covers(entry.getKey()))
                    .map(Map.Entry::getValue)
                    .toList();
            all.add(new Pinned(selection,
                    new Held(covered.size(), covered.stream().mapToLong(Long::longValue).sum())));
        }
        return all;
    }

    /** What pinned pages may take at most; grows while memory is being taken at start. */
    public long pinLimitBytes() {
        return pins.limitBytes();
    }

    /** What pinned pages take. */
    public long pinnedBytes() {
        return pins.bytes();
    }

    /** Returns how many bytes may be held at most, pinned pages aside. */
    public long capacityBytes() {
        return index.capacityBytes();
    }

    /** Returns how many bytes more evict nothing, pinned pages aside. */
    public long roomBytes() {
        return index.roomBytes();
    }

    /** Whether so much more of an object can be held and nothing else goes that is not pinned. */
    public boolean hasRoomFor(ObjectId id, long bytes) {
        return (pins.covers(id) && pins.bytes() + bytes <= pins.limitBytes())
                || bytes <= index.roomBytes();
    }
}
