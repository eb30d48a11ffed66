package io.railhead.cache.memory;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * One large slot of a slab: handed out whole, or split into small slots that are handed out in
 * stretches. Guarded by its allocator's lock.
 */
final class LargeSlot {
    private static final @Nullable Page[] NOBODY = new @Nullable Page[0];

    private final MemorySegment segment;
    private final int smallBytes;
    private final BitSet free;
    /** Who has which small slot, for {@link #tally}; one element where one page has them all. */
    private @Nullable Page[] owners = NOBODY;

    LargeSlot(MemorySegment segment, int smallBytes) {
        this.segment = segment;
        this.smallBytes = smallBytes;
        this.free = new BitSet(smallCount());
        free.set(0, smallCount());
    }

    int smallCount() {
        return (int) (segment.byteSize() / smallBytes);
    }

    int freeCount() {
        return free.cardinality();
    }

    boolean isWhole() {
        return freeCount() == smallCount();
    }

    /** The first free small slot of a stretch of at least {@code count}, or -1. */
    int findStretch(int count) {
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

    /** Up to {@code most} adjacent free small slots, the first there are. */
    Extent takeAny(int most) {
        int from = free.nextSetBit(0);
        return take(from, Math.min(most, free.nextClearBit(from) - from));
    }

    Extent take(int first, int count) {
        free.clear(first, first + count);
        if (owners.length == 0) {
            owners = new @Nullable Page[count == smallCount() ? 1 : smallCount()];
        }
        return new Extent(this, first, count);
    }

    void giveBack(Extent extent) {
        int end = extent.first() + extent.count();
        int taken = free.nextSetBit(extent.first());
        if (taken >= 0 && taken < end) {
            throw new IllegalStateException("slot freed twice");
        }
        free.set(extent.first(), end);
        if (isWhole()) {
            owners = NOBODY;
        }
    }

    /** Adds up what its bytes are used for: as a hint, for people. */
    void tally(SlotMap.Tally tally) {
        for (int i = 0; i < smallCount(); i++) {
            if (free.get(i)) {
                tally.addFree(smallBytes);
            } else {
                tally.add(owners[owners.length == 1 ? 0 : i], smallBytes);
            }
        }
    }

    /** Adjacent small slots of one large slot; all of them make the large slot itself. */
    record Extent(LargeSlot slot, int first, int count) {

        long bytes() {
            return (long) count * slot.smallBytes;
        }

        /** Only {@link LargeSlot#tally} reads this, so whoever took the extent needs no lock. */
        void ownedBy(Page page) {
            @Nullable
            Page[] owners = slot.owners;
            if (owners.length == 1) {
                owners[0] = page;
            } else {
                Arrays.fill(owners, first, first + count, page);
            }
        }

        long address() {
            return slot.segment.address() + (long) first * slot.smallBytes;
        }

        MemorySegment segment() {
            return slot.segment.asSlice((long) first * slot.smallBytes, bytes());
        }

        void copyTo(long offset, long bytes, MemorySegment target, long at) {
            MemorySegment.copy(slot.segment, (long) first * slot.smallBytes + offset, target, at,
                    bytes);
        }
    }
}
