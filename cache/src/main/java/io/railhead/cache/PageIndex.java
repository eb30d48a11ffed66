package io.railhead.cache;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Policy;
import com.github.benmanes.caffeine.cache.RemovalCause;
import io.railhead.cache.memory.MemoryStats;
import io.railhead.cache.memory.Page;
import io.railhead.cache.memory.PageMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The published pages; owns each from {@link #put} until it is removed, which condemns it. A page
 * found here is a hint: retaining it decides. Caffeine says who goes; its maximum stays below the
 * capacity by a reserve for fills, so that a fill rarely has to wait for an eviction.
 */
final class PageIndex {
    private final PageMemory memory;
    private final long runBytes;
    private final LongAdder evicted = new LongAdder();
    private final Cache<PageKey, Page> pages;
    private final Policy.Eviction<PageKey, Page> eviction;

    PageIndex(PageMemory memory, long runBytes) {
        this.memory = memory;
        this.runBytes = runBytes;
        this.pages = Caffeine.newBuilder()
                .executor(Runnable::run)
                .maximumWeight(maximum())
                .weigher((PageKey key, Page page) -> page.slotBytes())
                .removalListener(this::removed)
                .build();
        this.eviction = pages.policy().eviction().orElseThrow();
        memory.onGrowth(() -> eviction.setMaximum(maximum()));
        // A slab that joined since the builder asked has not told us.
        eviction.setMaximum(maximum());
    }

    private long maximum() {
        MemoryStats stats = memory.stats();
        long capacity = stats.capacityBytes() - stats.reserveBytes();
        long fills = Math.max(2 * runBytes, capacity / 16);
        return capacity - Math.min(fills, capacity / 2);
    }

    private void removed(@Nullable PageKey key, @Nullable Page page, RemovalCause cause) {
        if (page != null) {
            page.condemn();
            evicted.increment();
        }
    }

    @Nullable
    Page get(PageKey key) {
        return pages.getIfPresent(key);
    }

    void put(PageKey key, Page ownedPage) {
        pages.put(key, ownedPage);
    }

    void remove(PageKey key) {
        pages.invalidate(key);
    }

    /** Removes a version's pages: by name, or by a look at all keys where those are fewer. */
    void removeAll(ObjectVersion version) {
        long count = Math.ceilDiv(version.sizeBytes(), memory.pageBytes());
        if (count <= pages.estimatedSize()) {
            for (long index = 0; index < count; index++) {
                pages.invalidate(new PageKey(version, index));
            }
        } else {
            pages.asMap().keySet().removeIf(key -> key.version().equals(version));
        }
    }

    void clear() {
        pages.invalidateAll();
        pages.cleanUp();
    }

    /** Evicts at once what Caffeine would evict soon. */
    void cleanUp() {
        pages.cleanUp();
    }

    /** Evicts the coldest pages that nobody leases, of at least {@code bytes} if there are. */
    void evictColdest(long bytes) {
        List<PageKey> coldest = eviction.coldest(entries -> {
            List<PageKey> keys = new ArrayList<>();
            long[] missing = {bytes};
            entries.filter(entry -> !entry.getValue().isLeased())
                    .takeWhile(entry -> missing[0] > 0)
                    .forEach(entry -> {
                        keys.add(entry.getKey());
                        missing[0] -= entry.weight();
                    });
            return keys;
        });
        pages.invalidateAll(coldest);
    }

    long evictedPages() {
        return evicted.sum();
    }

    long size() {
        return pages.estimatedSize();
    }
}
