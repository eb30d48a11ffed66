package io.railhead.cache.memory;

import io.railhead.cache.memory.LargeSlot.Extent;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A budget of large slots and those of them that are split. Small slots of two pools never share a
 * large one, so no pool can eat into the other's budget by fragmentation. Guarded by the
 * allocator's lock.
 */
final class SlotPool {
    /** How many split slots are searched for a stretch before a new one is split. */
    private static final int SEARCHED = 32;

    private final ArrayDeque<LargeSlot> free;
    private final int smallCount;
    private final Set<LargeSlot> partial = new LinkedHashSet<>();
    private long budget;
    private long taken;
    private long usedSmall;

    SlotPool(ArrayDeque<LargeSlot> free, int smallCount) {
        this.free = free;
        this.smallCount = smallCount;
    }

    void grow(long newBudget) {
        budget = newBudget;
    }

    long budget() {
        return budget;
    }

    /** Small slots in use, large ones counted as what they would split into. */
    long usedSmall() {
        return usedSmall;
    }

    /** Extents of {@code count} small slots in all, as few as there can be had; null if full. */
    @Nullable
    List<Extent> tryTake(int count) {
        if (count == smallCount) {
            LargeSlot slot = tryTakeLarge();
            return slot == null ? null : List.of(carve(slot, 0, count));
        }
        Extent stretch = tryTakeStretch(count);
        return stretch != null ? List.of(stretch) : tryGather(count);
    }

    void giveBack(Extent extent) {
        LargeSlot slot = extent.slot();
        slot.giveBack(extent);
        usedSmall -= extent.count();
        if (slot.isWhole()) {
            partial.remove(slot);
            taken--;
            free.push(slot);
        } else {
            partial.add(slot);
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

    private @Nullable Extent tryTakeStretch(int count) {
        Iterator<LargeSlot> slots = partial.iterator();
        for (int i = 0; i < SEARCHED && slots.hasNext(); i++) {
            LargeSlot slot = slots.next();
            int first = slot.findStretch(count);
            if (first >= 0) {
                return carve(slot, first, count);
            }
        }
        LargeSlot slot = tryTakeLarge();
        return slot == null ? null : carve(slot, 0, count);
    }

    private @Nullable List<Extent> tryGather(int count) {
        if (budgetOfPartial() < count) {
            return null;
        }
        List<Extent> extents = new ArrayList<>();
        int missing = count;
        while (missing > 0) {
            LargeSlot slot = partial.iterator().next();
            Extent extent = slot.takeAny(missing);
            account(extent);
            extents.add(extent);
            missing -= extent.count();
        }
        return extents;
    }

    private long budgetOfPartial() {
        return taken * smallCount - usedSmall;
    }

    private Extent carve(LargeSlot slot, int first, int count) {
        Extent extent = slot.take(first, count);
        account(extent);
        return extent;
    }

    private void account(Extent extent) {
        usedSmall += extent.count();
        if (extent.slot().freeCount() == 0) {
            partial.remove(extent.slot());
        } else {
            partial.add(extent.slot());
        }
    }
}
