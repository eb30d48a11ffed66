package io.railhead.cache.memory;

import java.lang.foreign.MemorySegment;

/** A slab, and the large slots that it is cut into: what they share. */
record SlabCut(MemorySegment slab, int slotBytes) {

    int slots() {
        return (int) (slab.byteSize() / slotBytes);
    }

    int smallCount() {
        return slotBytes / SlotAllocator.SMALL_BYTES;
    }
}
