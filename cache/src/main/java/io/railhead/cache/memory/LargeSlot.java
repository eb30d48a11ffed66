package io.railhead.cache.memory;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * One large slot of a slab, handed out whole or split into small slots that are handed out in
 * segments. Guarded by its allocator's lock. There is one for each page's worth of memory, so the
 * object is small: one field holds every use.
 */
final class LargeSlot implements SlotRange, SlotUse {
    /** Taken whole, while its page is not visible yet. */
    private static final Split TAKEN = new Split(0);

    private final SlabCut cut;
    private final int number;
    /** Null while it is free and lowest in the stack of free slots. */
    private @Nullable SlotUse use;

    /** The free small slots, and the owners of the others for {@link #tally}. */
    static final class Split implements SlotUse {
        private final BitSet free;
        private final @Nullable Page[] owners;

        private Split(int smallCount) {
            free = new BitSet(smallCount);
            free.set(0, smallCount);
            owners = new @Nullable Page[smallCount];
        }
    }

    /** The stack of free large slots: the last one returned is taken first. */
    static final class Free {
        private @Nullable LargeSlot top;

        void push(LargeSlot slot) {
            slot.use = top;
            top = slot;
        }

        @Nullable
        LargeSlot poll() {
            LargeSlot slot = top;
            if (slot != null) {
                top = slot.use instanceof LargeSlot next ? next : null;
                slot.use = null;
            }
            return slot;
        }
    }

    LargeSlot(SlabCut cut, int number) {
        this.cut = cut;
        this.number = number;
    }

    MemorySegment slab() {
        return cut.slab();
    }

    long slabOffset() {
        return (long) number * cut.slotBytes();
    }

    @Override
    public LargeSlot slot() {
        return this;
    }

    @Override
    public int first() {
        return 0;
    }

    @Override
    public int count() {
        return cut.smallCount();
    }

    @Override
    public @Nullable SlotRange next() {
        return null;
    }

    boolean isFree() {
        return use == null || use instanceof LargeSlot;
    }

    boolean isFull() {
        return use instanceof Page || (use instanceof Split split && split.free.isEmpty());
    }

    /** Returns the first free small slot of a segment of at least {@code count}, or -1. */
    int findStretch(int count) {
        BitSet free = splitUp().free;
        int from = free.nextSetBit(0);
        while (from >= 0) {
            int end = free.nextClearBit(from);
            if (end - from >= count) {
                return from;
            }
            from = free.nextSetBit(end);
        }
        return -1;
    }

    SlotRange takeWhole() {
        use = TAKEN;
        return this;
    }

    /** Takes the first free adjacent small slots, at most {@code most}. */
    SlotRange takeAny(int most, @Nullable SlotRange next) {
        BitSet free = splitUp().free;
        int from = free.nextSetBit(0);
        return take(from, Math.min(most, free.nextClearBit(from) - from), next);
    }

    SlotRange take(int first, int count, @Nullable SlotRange next) {
        splitUp().free.clear(first, first + count);
        return new SlotSegment(this, first, count, next);
    }

    private Split splitUp() {
        if (use instanceof Split split) {
            return split;
        }
        Split split = new Split(count());
        use = split;
        return split;
    }

    void giveBack(SlotRange slotRange) {
        switch (slotRange) {
            case LargeSlot _ -> {
                requireTaken(use instanceof Page || use == TAKEN);
                use = null;
            }
            case SlotSegment slotSegment -> giveBack(slotSegment);
        }
    }

    private void giveBack(SlotSegment slotSegment) {
        BitSet free = splitUp().free;
        int end = slotSegment.first() + slotSegment.count();
        int taken = free.nextSetBit(slotSegment.first());
        requireTaken(taken < 0 || taken >= end);
        free.set(slotSegment.first(), end);
        if (free.cardinality() == count()) {
            use = null;
        }
    }

    private static void requireTaken(boolean taken) {
        if (!taken) {
            throw new IllegalStateException("slot freed twice");
        }
    }

    @Override
    public void ownedBy(Page page) {
        use = page;
    }

    void ownedBy(Page page, SlotSegment slotSegment) {
        Arrays.fill(splitUp().owners, slotSegment.first(),
                slotSegment.first() + slotSegment.count(), page);
    }

    /** Adds up the use of its bytes: a hint for people. */
    void tally(SlotMap.Tally tally) {
        switch (use) {
            case null -> tally.addFree(cut.slotBytes());
            case LargeSlot _ -> tally.addFree(cut.slotBytes());
            case Page page -> tally.add(page, cut.slotBytes());
            case Split split when split == TAKEN -> tally.add(null, cut.slotBytes());
            case Split split -> tally(split, tally);
        }
    }

    private static void tally(Split split, SlotMap.Tally tally) {
        for (int i = 0; i < split.owners.length; i++) {
            if (split.free.get(i)) {
                tally.addFree(SlotAllocator.SMALL_BYTES);
            } else {
                tally.add(split.owners[i], SlotAllocator.SMALL_BYTES);
            }
        }
    }
}
