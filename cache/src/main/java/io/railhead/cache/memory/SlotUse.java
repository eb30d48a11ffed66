package io.railhead.cache.memory;

/**
 * What a large slot is used for: by one page, split, or not at all, and then it knows the next free
 * one.
 */
sealed interface SlotUse permits LargeSlot, LargeSlot.Split, Page {}
