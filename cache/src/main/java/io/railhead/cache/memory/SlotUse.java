package io.railhead.cache.memory;

/** The use of a large slot: one page, a split, or free; a free slot links to the next free one. */
sealed interface SlotUse permits LargeSlot, LargeSlot.Split, Page {}
