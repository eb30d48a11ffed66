package io.railhead.cache.memory;

import io.railhead.cache.memory.LargeSlot.Extent;
import io.railhead.cache.memory.PageMemory.Pool;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Who holds which slot. One short lock, taken by misses and by frees, never by hits; nothing is
 * called while it is held.
 */
final class SlotAllocator {
    static final int SMALL_BYTES = 4096;

    private final int pageBytes;
    private final double reserveRatio;
    private final ArrayDeque<LargeSlot> free = new ArrayDeque<>();
    private final SlotPool cache;
    private final SlotPool reserve;
    private final List<LargeSlot> all = new ArrayList<>();

    SlotAllocator(int pageBytes, double reserveRatio) {
        this.pageBytes = pageBytes;
        this.reserveRatio = reserveRatio;
        this.cache = new SlotPool(free, pageBytes / SMALL_BYTES);
        this.reserve = new SlotPool(free, pageBytes / SMALL_BYTES);
    }

    /** A slab that fabrics know by now joins; its tail below a large slot stays unused. */
    synchronized void join(MemorySegment slab) {
        for (long at = 0; at + pageBytes <= slab.byteSize(); at += pageBytes) {
            LargeSlot slot = new LargeSlot(slab.asSlice(at, pageBytes), SMALL_BYTES);
            free.add(slot);
            all.add(slot);
        }
        long reserved = (long) Math.ceil(all.size() * reserveRatio);
        reserve.grow(reserved);
        cache.grow(all.size() - reserved);
    }

    /** The slots of each page, all pages or none. */
    synchronized @Nullable List<List<Extent>> tryTake(int[] lengths, Pool pool) {
        int[] counts = Arrays.stream(lengths).map(this::smallSlots).toArray();
        List<List<Extent>> pages = new ArrayList<>(lengths.length);
        for (int count : counts) {
            List<Extent> extents = of(pool).tryTake(count);
            if (extents == null) {
                pages.forEach(taken -> giveBack(taken, pool));
                return null;
            }
            pages.add(extents);
        }
        return pages;
    }

    synchronized void giveBack(List<Extent> extents, Pool pool) {
        extents.forEach(of(pool)::giveBack);
    }

    synchronized MemoryStats stats(long condemnedBytes, long leases, long oldestLease) {
        long smallPerSlot = pageBytes / SMALL_BYTES;
        long freeCache = cache.budget() * smallPerSlot - cache.usedSmall();
        long freeReserve = reserve.budget() * smallPerSlot - reserve.usedSmall();
        return new MemoryStats((long) all.size() * pageBytes, freeCache * SMALL_BYTES,
                reserve.budget() * pageBytes, freeReserve * SMALL_BYTES,
                (cache.usedSmall() + reserve.usedSmall()) * SMALL_BYTES, condemnedBytes, leases,
                oldestLease);
    }

    /** Large slots that have joined. */
    synchronized int count() {
        return all.size();
    }

    /** What every {@code step}-th large slot of {@code [from, to)} is used for. */
    synchronized SlotMap.Tally tally(int from, int to, int step) {
        SlotMap.Tally tally = new SlotMap.Tally();
        for (int i = from; i < Math.min(to, all.size()); i += step) {
            all.get(i).tally(tally);
        }
        return tally;
    }

    private int smallSlots(int length) {
        if (length < 1 || length > pageBytes) {
            throw new IllegalArgumentException(
                    "length must be from 1 to " + pageBytes + ": " + length);
        }
        return (length + SMALL_BYTES - 1) / SMALL_BYTES;
    }

    private SlotPool of(Pool pool) {
        return switch (pool) {
            case CACHE -> cache;
            case RESERVE -> reserve;
        };
    }
}
