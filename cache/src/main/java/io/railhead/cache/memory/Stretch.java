package io.railhead.cache.memory;

import org.jspecify.annotations.Nullable;

/** Part of a split large slot; narrow, since each small page that is held keeps one. */
record Stretch(LargeSlot slot, short from, short slots, @Nullable Extent next) implements Extent {

    Stretch(LargeSlot slot, int from, int slots, @Nullable Extent next) {
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
