package io.railhead.cache;

import io.railhead.cache.memory.Page;
import io.railhead.cache.memory.PageMemory.Pool;
import java.util.List;
import java.util.Objects;

/** Fills an object's pages as a fetch does, but for the bytes. */
public final class EmptyPages {
    private EmptyPages() {}

    public static void fill(ObjectCache cache, ObjectVersion version) {
        FillTable table = cache.table;
        long pages = Math.ceilDiv(version.sizeBytes(), table.pageBytes());
        for (long index = 0; index < pages; index++) {
            FillClaim fillClaim = Objects
                    .requireNonNull(table.tryClaim(new PageKey(version, index), ""));
            List<Page> filled = Objects.requireNonNull(
                    table.tryAllocate(new int[]{table.lengthOf(fillClaim.key())}, Pool.CACHE, ""));
            filled.getFirst().publish();
            table.published(fillClaim, filled.getFirst(), null);
        }
    }
}
