package io.railhead.cache.memory;

import java.lang.foreign.MemorySegment;

/** A slab and its division into large slots. */
record SlabCut(MemorySegment slab, int slotBytes) {

    int slots() {
        return (int) (slab.byteSize() / slotBytes);
    }

    int smallCount() {
        return slotBytes / SlotAllocator.SMALL_BYTES;
    }
}
