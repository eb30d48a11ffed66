package io.railhead.benchmarks.pagesize;

import io.railhead.benchmarks.pagesize.ReferenceMix.Kind;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.MemoryStats;
import io.railhead.cache.memory.Page;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageMemory.Pool;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Page memory that has been full for long: pages of the mix come in at random and, where there is
 * no room, pages that were there at random go, as a cache's do. Full pages need a whole large slot,
 * which small pages scattered over it deny them: what is free then is stranded.
 */
final class Churn {
    private static final int WARM_FACTOR = 6;

    private final PageMemory memory;
    private final Random random;
    private final long[] cumulativePages;
    private final List<Kind> kinds;
    private final List<Page> held = new ArrayList<>();
    private long validBytes;
    private long evicted;
    private long admitted;

    private Churn(PageMemory memory, ReferenceMix mix, long seed) {
        this.memory = memory;
        this.kinds = mix.kinds();
        this.random = new Random(seed);
        this.cumulativePages = new long[kinds.size()];
        long sum = 0;
        for (int i = 0; i < kinds.size(); i++) {
            sum += kinds.get(i).count()
                    * Math.ceilDiv(kinds.get(i).sizeBytes(), memory.pageBytes());
            cumulativePages[i] = sum;
        }
    }

    /**
     * How full memory was.
     *
     * @param lostRatio of the capacity: not bytes of an object
     * @param evictionsPerPage pages that went for one that came
     */
    record Result(double lostRatio, double evictionsPerPage) {}

    static Result run(ReferenceMix mix, int pageBytes, long memoryBytes, long seed) {
        try (PageMemory memory = PageMemory.open(
                new MemoryConfig(memoryBytes, pageBytes, 0, false), slab -> {})) {
            Churn churn = new Churn(memory, mix, seed);
            Result result = churn.run(memoryBytes);
            churn.held.forEach(Page::condemn);
            return result;
        }
    }

    private Result run(long memoryBytes) {
        admit(WARM_FACTOR * memoryBytes);
        evicted = 0;
        admitted = 0;
        double lost = 0;
        int looks = 64;
        for (int i = 0; i < looks; i++) {
            admit(memoryBytes / looks);
            MemoryStats stats = memory.stats();
            lost += 1 - (double) validBytes / stats.capacityBytes();
        }
        return new Result(lost / looks, (double) evicted / admitted);
    }

    private void admit(long bytes) {
        for (long admittedBytes = 0; admittedBytes < bytes;) {
            int length = nextLength();
            List<Page> pages = tryAllocate(length);
            while (pages == null) {
                evictOne();
                pages = tryAllocate(length);
            }
            held.add(pages.getFirst());
            validBytes += length;
            admittedBytes += length;
            admitted++;
        }
    }

    private @Nullable List<Page> tryAllocate(int length) {
        return memory.tryAllocate(new int[]{length}, Pool.CACHE);
    }

    private void evictOne() {
        int victim = random.nextInt(held.size());
        Page page = held.get(victim);
        held.set(victim, held.getLast());
        held.removeLast();
        validBytes -= page.length();
        page.condemn();
        evicted++;
    }

    /** The length of a page of the mix, each as likely as the next. */
    private int nextLength() {
        long at = random.nextLong(cumulativePages[cumulativePages.length - 1]);
        int kind = 0;
        while (cumulativePages[kind] <= at) {
            kind++;
        }
        long size = kinds.get(kind).sizeBytes();
        long count = Math.ceilDiv(size, memory.pageBytes());
        boolean last = random.nextLong(count) == count - 1;
        return last ? (int) (size - (count - 1) * memory.pageBytes()) : memory.pageBytes();
    }
}
