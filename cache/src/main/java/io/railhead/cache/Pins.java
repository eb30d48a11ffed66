package io.railhead.cache;

import io.railhead.cache.memory.MemoryStats;
import io.railhead.cache.memory.PageMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The pins, and the bytes that they hold. Any thread; changes of the selections must not overlap.
 */
final class Pins {
    private final PageMemory memory;
    private final double limitRatio;
    private final AtomicLong bytes = new AtomicLong();
    private volatile List<Selection> selections = List.of();

    /** @param limitRatio the part of the cacheable memory that pins may take */
    Pins(PageMemory memory, double limitRatio) {
        this.memory = memory;
        this.limitRatio = limitRatio;
    }

    List<Selection> selections() {
        return selections;
    }

    boolean covers(ObjectId id) {
        for (Selection selection : selections) {
            if (selection.covers(id)) {
                return true;
            }
        }
        return false;
    }

    void add(Selection selection) {
        List<Selection> more = new ArrayList<>(selections);
        more.add(selection);
        selections = List.copyOf(more);
    }

    /** Returns false if there is no such pin. */
    boolean remove(Selection selection) {
        List<Selection> fewer = new ArrayList<>(selections);
        boolean removed = fewer.remove(selection);
        selections = List.copyOf(fewer);
        return removed;
    }

    /** Returns the limit, which grows as slabs join. */
    long limitBytes() {
        MemoryStats stats = memory.stats();
        return (long) ((stats.capacityBytes() - stats.reserveBytes()) * limitRatio);
    }

    long bytes() {
        return bytes.get();
    }

    boolean tryReserve(int pageBytes) {
        if (bytes.addAndGet(pageBytes) <= limitBytes()) {
            return true;
        }
        bytes.addAndGet(-pageBytes);
        return false;
    }

    void release(int pageBytes) {
        bytes.addAndGet(-pageBytes);
    }
}
