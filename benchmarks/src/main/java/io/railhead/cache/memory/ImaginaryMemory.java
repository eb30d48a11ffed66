package io.railhead.cache.memory;

import java.lang.foreign.MemorySegment;

/**
 * Page memory of any size without memory behind it. Its bookkeeping is real, but its bytes must not
 * be touched.
 */
public final class ImaginaryMemory {
    private static final long SLAB_BYTES = 1L << 30;

    private ImaginaryMemory() {}

    /** Opens memory that must not be read or written. */
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
