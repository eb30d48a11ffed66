package io.railhead.cache.memory;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Adjacent small slots of one large slot that a page has, and where the page goes on. */
sealed interface SlotRange permits LargeSlot, SlotSegment {

    LargeSlot slot();

    /** The first small slot. */
    int first();

    /** Small slots, all of which make the large slot itself. */
    int count();

    @Nullable
    SlotRange next();

    /** Only {@link LargeSlot#tally} reads this, so whoever took the extent needs no lock. */
    void ownedBy(Page page);

    default long bytes() {
        return (long) count() * SlotAllocator.SMALL_BYTES;
    }

    default long address() {
        return slot().slab().address() + slabOffset();
    }

    default MemorySegment segment() {
        return slot().slab().asSlice(slabOffset(), bytes());
    }

    default void copyTo(long offset, long bytes, MemorySegment target, long at) {
        MemorySegment.copy(slot().slab(), slabOffset() + offset, target, at, bytes);
    }

    private long slabOffset() {
        return slot().slabOffset() + (long) first() * SlotAllocator.SMALL_BYTES;
    }
}
