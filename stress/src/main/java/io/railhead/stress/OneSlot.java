package io.railhead.stress;

import io.railhead.cache.memory.Lease;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.MemoryStats;
import io.railhead.cache.memory.Page;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageMemory.Pool;
import io.railhead.cache.memory.PageSlice;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * Page memory of one slot for one sample: a second page is available only once the first is free.
 * Mapping memory is slow, so a sample passes free memory on to a later one.
 */
final class OneSlot {
    private static final int BYTES = 64 << 10;
    private static final Queue<PageMemory> SPARE = new ConcurrentLinkedQueue<>();

    private final PageMemory memory;

    OneSlot() {
        PageMemory spare = SPARE.poll();
        memory = spare != null
                ? spare
                : PageMemory.open(new MemoryConfig(BYTES, BYTES, 0, false), slab -> {});
    }

    /** Returns a page of the whole slot, FILLING; null if another page has the slot. */
    @Nullable
    Page tryPage() {
        List<Page> pages = memory.tryAllocate(new int[]{BYTES}, Pool.CACHE);
        return pages == null ? null : pages.getFirst();
    }

    /** Returns a page of the whole slot, READY, with every byte {@code mark}. */
    Page page(byte mark) {
        Page page = Objects.requireNonNull(tryPage());
        fill(page, mark);
        page.publish();
        return page;
    }

    static void fill(Page page, byte mark) {
        byte[] bytes = new byte[BYTES];
        Arrays.fill(bytes, mark);
        page.write(ByteBuffer.wrap(bytes));
    }

    /**
     * Returns the value of all bytes under the lease, judged by some of them; -1 if they differ.
     */
    static int uniform(Lease lease) {
        ByteBuffer bytes = new PageSlice(lease, 0, 0, BYTES).buffers().getFirst();
        byte first = bytes.get(0);
        for (int i = BYTES - 1; i > 0; i -= 1021) {
            if (bytes.get(i) != first) {
                return -1;
            }
        }
        return first;
    }

    /** Ends the sample: 1 if the slot is free and no lease open. */
    int end() {
        MemoryStats stats = memory.stats();
        boolean free = stats.usedBytes() == 0 && stats.leases() == 0 && stats.condemnedBytes() == 0;
        if (free) {
            SPARE.add(memory);
        }
        return free ? 1 : 0;
    }
}
