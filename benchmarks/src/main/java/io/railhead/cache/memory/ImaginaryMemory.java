package io.railhead.cache.memory;

import java.lang.foreign.MemorySegment;

/** Page memory of any size that is not there: what keeps it is real, nobody may touch its bytes. */
public final class ImaginaryMemory {
    private static final long SLAB_BYTES = 1L << 30;

    private ImaginaryMemory() {}

    /** Not to be read or written. */
    @SuppressWarnings("restricted")
    public static PageMemory open(long bytes, int pageBytes) {
        PageMemory memory = PageMemory.over(new MemoryConfig(bytes, pageBytes, 0, false));
        for (long at = 0; at < bytes; at += SLAB_BYTES) {
            memory.join(MemorySegment.ofAddress(SLAB_BYTES + at)
                    .reinterpret(Math.min(SLAB_BYTES, bytes - at)));
        }
        return memory;
    }
}
