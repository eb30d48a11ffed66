package io.railhead.cache.memory;

/**
 * The use of a large slot: held by one page, split, or free; a free one knows the next free one.
 */
sealed interface SlotUse permits LargeSlot, LargeSlot.Split, Page {}
