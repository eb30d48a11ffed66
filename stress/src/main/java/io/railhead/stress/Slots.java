package io.railhead.stress;

import io.railhead.cache.memory.Lease;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.Page;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageMemory.Pool;
import io.railhead.cache.memory.PageSlice;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/**
 * Page memory that all samples of a run share: each takes a slot or two and must give them back. A
 * sample that kept one would soon be seen: the memory is small, and a slot that is not there fails
 * the test.
 */
final class Slots {
    static final int BYTES = 4096;

    private static final PageMemory MEMORY = PageMemory.open(
            new MemoryConfig(128L << 20, 64 << 10, 0, false), slab -> {});

    private Slots() {}

    /** A page of one slot, FILLING. */
    static Page page() {
        List<Page> pages = MEMORY.tryAllocate(new int[]{BYTES}, Pool.CACHE);
        if (pages == null) {
            throw new IllegalStateException("slots leak: " + MEMORY.stats());
        }
        return pages.getFirst();
    }

    /** A page of one slot, READY, all of whose bytes are {@code mark}. */
    static Page page(byte mark) {
        Page page = page();
        fill(page, mark);
        page.publish();
        return page;
    }

    static void fill(Page page, byte mark) {
        byte[] bytes = new byte[BYTES];
        Arrays.fill(bytes, mark);
        page.write(ByteBuffer.wrap(bytes));
    }

    /** What all bytes under the lease are; -1 if they differ. */
    static int uniform(Lease lease) {
        ByteBuffer bytes = new PageSlice(lease, 0, 0, BYTES).buffers().getFirst();
        byte first = bytes.get(0);
        for (int i = 1; i < BYTES; i += 61) {
            if (bytes.get(i) != first) {
                return -1;
            }
        }
        return bytes.get(BYTES - 1) == first ? first : -1;
    }
}
