package io.railhead.cache.memory;

import org.jspecify.annotations.Nullable;

/** Part of a split large slot. Its fields are narrow, since each small cached page keeps one. */
record SlotSegment(LargeSlot slot, short from, short slots,
        @Nullable SlotRange next) implements SlotRange {

    SlotSegment(LargeSlot slot, int from, int slots, @Nullable SlotRange next) {
        this(slot, (short) from, (short) slots, next);
    }

    @Override
    public int first() {
        return from;
    }

    @Override
    public int count() {
        return slots;
    }

    @Override
    public void ownedBy(Page page) {
        slot.ownedBy(page, this);
    }
}
