package io.railhead.cache.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Page memory that costs no mapping: each of the schedules that are tried begins with one, over the
 * same bytes.
 */
public final class PlainMemory {
    public static final int PAGE_BYTES = 64 << 10;
    private static final int PAGES = 4;
    private static final MemorySegment BYTES = Arena.global()
            .allocate((long) PAGES * PAGE_BYTES, 4096);

    private PlainMemory() {}

    public static PageMemory create() {
        PageMemory memory = PageMemory
                .over(new MemoryConfig((long) PAGES * PAGE_BYTES, PAGE_BYTES, 0, false));
        memory.join(BYTES);
        return memory;
    }
}
