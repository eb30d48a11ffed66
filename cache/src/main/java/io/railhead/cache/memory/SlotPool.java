package io.railhead.cache.memory;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A budget of large slots, some of them split. Small slots of two pools never share a large one, so
 * fragmentation cannot take one pool's budget for another. Guarded by the allocator's lock.
 */
final class SlotPool {
    /** The number of split slots that are searched for a segment before another slot is split. */
    private static final int SEARCHED = 32;

    private final LargeSlot.Free free;
    private final int smallCount;
    private final Set<LargeSlot> partial = new LinkedHashSet<>();
    private long budget;
    private long taken;
    private long usedSmall;

    SlotPool(LargeSlot.Free free, int smallCount) {
        this.free = free;
        this.smallCount = smallCount;
    }

    void grow(long newBudget) {
        budget = newBudget;
    }

    long budget() {
        return budget;
    }

    /**
     * Returns the used small slots; a large slot counts as the small ones that it could be split
     * into.
     */
    long usedSmall() {
        return usedSmall;
    }

    /** Takes {@code count} small slots in as few ranges as possible; null if the pool is full. */
    @Nullable
    SlotRange tryTake(int count) {
        if (count == smallCount) {
            LargeSlot slot = tryTakeLarge();
            return slot == null ? null : account(slot.takeWhole());
        }
        SlotRange stretch = tryTakeStretch(count);
        return stretch != null ? stretch : tryGather(count);
    }

    void giveBack(SlotRange slotRanges) {
        for (SlotRange slotRange = slotRanges; slotRange != null; slotRange = slotRange.next()) {
            LargeSlot slot = slotRange.slot();
            slot.giveBack(slotRange);
            usedSmall -= slotRange.count();
            if (slot.isFree()) {
                partial.remove(slot);
                taken--;
                free.push(slot);
            } else {
                partial.add(slot);
            }
        }
    }

    private @Nullable LargeSlot tryTakeLarge() {
        if (taken >= budget) {
            return null;
        }
        LargeSlot slot = free.poll();
        if (slot != null) {
            taken++;
        }
        return slot;
    }

    private @Nullable SlotRange tryTakeStretch(int count) {
        Iterator<LargeSlot> slots = partial.iterator();
        for (int i = 0; i < SEARCHED && slots.hasNext(); i++) {
            LargeSlot slot = slots.next();
            int first = slot.findStretch(count);
            if (first >= 0) {
                return account(slot.take(first, count, null));
            }
        }
        LargeSlot slot = tryTakeLarge();
        return slot == null ? null : account(slot.take(0, count, null));
    }

    /** Takes {@code count} free small slots of split ones, in any number of ranges. */
    @Nullable
    SlotRange tryGather(int count) {
        if (budgetOfPartial() < count) {
            return null;
        }
        SlotRange slotRanges = null;
        int missing = count;
        while (missing > 0) {
            LargeSlot slot = partial.iterator().next();
            slotRanges = account(slot.takeAny(missing, slotRanges));
            missing -= slotRanges.count();
        }
        return slotRanges;
    }

    private long budgetOfPartial() {
        return taken * smallCount - usedSmall;
    }

    private SlotRange account(SlotRange slotRange) {
        usedSmall += slotRange.count();
        if (slotRange.slot().isFull()) {
            partial.remove(slotRange.slot());
        } else {
            partial.add(slotRange.slot());
        }
        return slotRange;
    }
}
