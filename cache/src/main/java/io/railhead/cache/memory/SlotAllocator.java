package io.railhead.cache.memory;

import io.railhead.cache.memory.PageMemory.Pool;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Assigns slots to pages under one short lock. Misses and frees take the lock, hits never do;
 * nothing is called while it is held.
 */
final class SlotAllocator {
    static final int SMALL_BYTES = 4096;

    private final int pageBytes;
    private final double reserveRatio;
    private final LargeSlot.Free free = new LargeSlot.Free();
    private final SlotPool cache;
    private final SlotPool reserve;
    private final List<LargeSlot[]> slabs = new ArrayList<>();
    private int slots;

    SlotAllocator(int pageBytes, double reserveRatio) {
        this.pageBytes = pageBytes;
        this.reserveRatio = reserveRatio;
        this.cache = new SlotPool(free, pageBytes / SMALL_BYTES);
        this.reserve = new SlotPool(free, pageBytes / SMALL_BYTES);
    }

    /**
     * Adds a slab that the fabrics have registered; a tail smaller than a large slot stays unused.
     */
    synchronized void join(MemorySegment slab) {
        SlabCut cut = new SlabCut(slab, pageBytes);
        LargeSlot[] cutSlots = new LargeSlot[cut.slots()];
        Arrays.setAll(cutSlots, i -> new LargeSlot(cut, i));
        for (int i = cutSlots.length - 1; i >= 0; i--) {
            free.push(cutSlots[i]);
        }
        slabs.add(cutSlots);
        slots += cutSlots.length;
        long reserved = (long) Math.ceil(slots * reserveRatio);
        reserve.grow(reserved);
        cache.grow(slots - reserved);
    }

    /** Returns the slots of each page; all pages or none. */
    synchronized @Nullable List<SlotRange> tryTake(int[] lengths, Pool pool) {
        return tryTake(lengths, of(pool)::tryTake, pool);
    }

    /** Returns slots from parts of split large slots, when no large one is free. */
    synchronized @Nullable List<SlotRange> tryGather(int[] lengths, Pool pool) {
        return tryTake(lengths, of(pool)::tryGather, pool);
    }

    private @Nullable List<SlotRange> tryTake(int[] lengths, Taking taking, Pool pool) {
        int[] counts = Arrays.stream(lengths).map(this::smallSlots).toArray();
        List<SlotRange> pages = new ArrayList<>(lengths.length);
        for (int count : counts) {
            SlotRange slotRanges = taking.tryTake(count);
            if (slotRanges == null) {
                pages.forEach(of(pool)::giveBack);
                return null;
            }
            pages.add(slotRanges);
        }
        return pages;
    }

    private interface Taking {
        @Nullable
        SlotRange tryTake(int count);
    }

    synchronized void giveBack(SlotRange slotRanges, Pool pool) {
        of(pool).giveBack(slotRanges);
    }

    synchronized MemoryStats stats(long condemnedBytes, long leases, long oldestLease) {
        long smallPerSlot = pageBytes / SMALL_BYTES;
        long freeCache = cache.budget() * smallPerSlot - cache.usedSmall();
        long freeReserve = reserve.budget() * smallPerSlot - reserve.usedSmall();
        return new MemoryStats((long) slots * pageBytes, freeCache * SMALL_BYTES,
                reserve.budget() * pageBytes, freeReserve * SMALL_BYTES,
                (cache.usedSmall() + reserve.usedSmall()) * SMALL_BYTES, condemnedBytes, leases,
                oldestLease);
    }

    /** Returns the number of large slots that have joined. */
    synchronized int count() {
        return slots;
    }

    /** Returns the use of every {@code step}-th large slot of {@code [from, to)}. */
    synchronized SlotMap.Tally tally(int from, int to, int step) {
        SlotMap.Tally tally = new SlotMap.Tally();
        int slabStart = 0;
        for (LargeSlot[] slab : slabs) {
            // The first step at or above the slab's start.
            int skipped = Math.ceilDiv(Math.max(0, slabStart - from), step) * step;
            for (int i = from + skipped; i < Math.min(to, slabStart + slab.length); i += step) {
                slab[i - slabStart].tally(tally);
            }
            slabStart += slab.length;
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
