package io.railhead.cache.memory;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Adjacent small slots of one large slot that belong to a page, and the page's next range. */
sealed interface SlotRange permits LargeSlot, SlotSegment {

    LargeSlot slot();

    /** The first small slot. */
    int first();

    /** The number of small slots; a whole large slot has all of its own. */
    int count();

    @Nullable
    SlotRange next();

    /** Sets the owner without a lock: only {@link LargeSlot#tally} reads it. */
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
