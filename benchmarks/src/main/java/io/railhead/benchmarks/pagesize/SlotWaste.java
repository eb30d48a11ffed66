package io.railhead.benchmarks.pagesize;

import io.railhead.benchmarks.pagesize.ReferenceMix.Kind;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.Page;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageMemory.Pool;
import java.util.Objects;

/**
 * The memory that slots hold beyond the requested bytes, when a mix is held whole in memory of one
 * page size. The slots are those that {@link PageMemory} gives for real pages of these lengths.
 */
record SlotWaste(long validBytes, long heldBytes) {

    /** The part of what is held that no object needs. */
    double ratio() {
        return 1 - (double) validBytes / heldBytes;
    }

    static SlotWaste of(ReferenceMix mix, int pageBytes) {
        long valid = 0;
        long held = 0;
        try (PageMemory memory = PageMemory.open(
                new MemoryConfig(pageBytes, pageBytes, 0, false), slab -> {})) {
            for (Kind kind : mix.kinds()) {
                valid += kind.sizeBytes() * kind.count();
                held += heldBytes(memory, kind.sizeBytes()) * kind.count();
            }
        }
        return new SlotWaste(valid, held);
    }

    private static long heldBytes(PageMemory memory, long sizeBytes) {
        long whole = sizeBytes / memory.pageBytes();
        int tail = (int) (sizeBytes % memory.pageBytes());
        long held = whole == 0 ? 0 : whole * slotBytes(memory, memory.pageBytes());
        return tail == 0 ? held : held + slotBytes(memory, tail);
    }

    private static long slotBytes(PageMemory memory, int length) {
        Page page = Objects.requireNonNull(memory.tryAllocate(new int[]{length}, Pool.CACHE))
                .getFirst();
        long bytes = page.slotBytes();
        page.condemn();
        return bytes;
    }
}
