package io.railhead.cache;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Policy;
import com.github.benmanes.caffeine.cache.RemovalCause;
import io.railhead.cache.memory.MemoryStats;
import io.railhead.cache.memory.Page;
import io.railhead.cache.memory.PageMemory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The published pages; owns each from {@link #put} until it is removed, which condemns it. A page
 * found here is a hint: retaining it decides. Caffeine says who goes; its maximum stays below the
 * capacity by a reserve for fills, so that a fill rarely has to wait for an eviction.
 *
 * <p> Pinned pages are kept beside Caffeine, which would look at each of them again and again, and
 * its maximum is that much lower. Whoever puts a page there, takes one away, or removes a key does
 * so under {@code pinned}'s lock of that key, so that no page slips from one side to the other
 * while it is being removed. Within it Caffeine is called, never the other way round: what Caffeine
 * evicts is condemned without a look at the pinned. A selection changes before the pages that it
 * covers do; whoever puts a page looks at the selections again afterwards.
 */
final class PageIndex {
    private final PageMemory memory;
    private final long runBytes;
    private final Pins pins;
    private final LongAdder evicted = new LongAdder();
    private final Cache<PageKey, Page> pages;
    private final Policy<PageKey, Page> policy;
    private final Policy.Eviction<PageKey, Page> eviction;
    private final ConcurrentMap<PageKey, Page> pinned = new ConcurrentHashMap<>();
    /** Pages that leave Caffeine without being condemned. */
    private final Set<Page> moving = ConcurrentHashMap.newKeySet();
    private final Object maximumLock = new Object();
    private volatile long runsPinned;

    PageIndex(PageMemory memory, long runBytes, Pins pins) {
        this.memory = memory;
        this.runBytes = runBytes;
        this.pins = pins;
        this.pages = Caffeine.newBuilder()
                .executor(Runnable::run)
                .maximumWeight(maximum())
                .weigher((PageKey key, Page page) -> page.slotBytes())
                .removalListener(this::removed)
                .build();
        this.policy = pages.policy();
        this.eviction = policy.eviction().orElseThrow();
        memory.onGrowth(this::limit);
        // A slab that joined since the builder asked has not told us.
        limit();
    }

    private void limit() {
        synchronized (maximumLock) {
            runsPinned = Math.ceilDiv(pins.bytes(), runBytes);
            eviction.setMaximum(Math.max(0, maximum() - runsPinned * runBytes));
        }
    }

    /** By whole runs, since Caffeine goes over its pages each time. */
    private void follow() {
        if (runsPinned != Math.ceilDiv(pins.bytes(), runBytes)) {
            limit();
        }
    }

    private long maximum() {
        MemoryStats stats = memory.stats();
        long capacity = stats.capacityBytes() - stats.reserveBytes();
        long fills = Math.max(2 * runBytes, capacity / 16);
        return capacity - Math.min(fills, capacity / 2);
    }

    private void removed(@Nullable PageKey key, @Nullable Page page, RemovalCause cause) {
        if (page != null && !moving.contains(page)) {
            condemn(page);
        }
    }

    private void condemn(Page page) {
        if (page.condemn()) {
            evicted.increment();
        }
    }

    /** A look that is no sign of the page's being wanted. */
    @Nullable
    Page peek(PageKey key) {
        Page page = policy.getIfPresentQuietly(key);
        return page == null && !pinned.isEmpty() ? pinned.get(key) : page;
    }

    /**
     * For a read that begins so far into the page. The first one after it was put, and one that
     * goes on where the last one ended, are no further sign that the page is wanted: else a backup
     * that reads bit by bit, or what was fetched ahead of it, would look as popular as what many
     * read, and evict it.
     */
    @Nullable
    Page get(PageKey key, int from) {
        Page page = peek(key);
        if (page != null && !page.wasReadTo(from)) {
            Page _ = pages.getIfPresent(key);
        }
        return page;
    }

    /** Whether it is here, which says nothing of how often it is read. */
    boolean holds(PageKey key) {
        return peek(key) != null;
    }

    void put(PageKey key, Page ownedPage) {
        List<Selection> seen = pins.selections();
        if (seen.isEmpty() || !tryPin(key, ownedPage)) {
            pages.put(key, ownedPage);
        }
        // A selection may have come, or gone, while the page was on its way.
        if (!seen.equals(pins.selections())) {
            settle(key);
        }
        follow();
    }

    private boolean tryPin(PageKey key, Page ownedPage) {
        boolean[] taken = {false};
        pinned.compute(key, (same, before) -> {
            taken[0] = pins.covers(same.version().object())
                    && pins.tryReserve(ownedPage.slotBytes());
            if (!taken[0]) {
                return before;
            }
            discard(same, before);
            return ownedPage;
        });
        return taken[0];
    }

    /** Under the key's lock. */
    private void discard(PageKey key, @Nullable Page pinnedPage) {
        pages.invalidate(key);
        if (pinnedPage != null) {
            pins.release(pinnedPage.slotBytes());
            condemn(pinnedPage);
        }
    }

    void remove(PageKey key) {
        pinned.compute(key, (same, page) -> {
            discard(same, page);
            return null;
        });
    }

    /**
     * Pins the page, or no longer, as the selections now say.
     *
     * @return false where it should be pinned and the limit does not allow it
     */
    private boolean settle(PageKey key) {
        boolean[] refused = {false};
        pinned.compute(key, (same, page) -> {
            boolean wanted = pins.covers(same.version().object());
            if (page == null) {
                Page found = wanted ? policy.getIfPresentQuietly(same) : null;
                refused[0] = found != null && !pins.tryReserve(found.slotBytes());
                return found == null || refused[0] ? null : tryMove(same, found);
            }
            if (wanted) {
                return page;
            }
            pins.release(page.slotBytes());
            pages.put(same, page);
            return null;
        });
        return !refused[0];
    }

    /**
     * Out of Caffeine; null where it was removed before, by whom it may not have been condemned.
     */
    private @Nullable Page tryMove(PageKey key, Page page) {
        moving.add(page);
        boolean moved = pages.asMap().remove(key, page);
        moving.remove(page);
        if (moved) {
            return page;
        }
        pins.release(page.slotBytes());
        condemn(page);
        return null;
    }

    /**
     * Pins or unpins what it covers and is held.
     *
     * @return false where the limit did not allow all of it
     */
    boolean settle(Selection selection) {
        boolean all = true;
        for (PageKey key : covered(selection)) {
            all &= settle(key);
        }
        follow();
        return all;
    }

    /** A snapshot of the keys that it covers. */
    List<PageKey> covered(Selection selection) {
        List<PageKey> keys = new ArrayList<>();
        pinned.keySet().forEach(key -> addCovered(selection, key, keys));
        pages.asMap().keySet().forEach(key -> addCovered(selection, key, keys));
        return keys;
    }

    private static void addCovered(Selection selection, PageKey key, List<PageKey> keys) {
        if (selection.covers(key.version().object())) {
            keys.add(key);
        }
    }

    /** The pinned pages' bytes of each object. */
    Map<ObjectId, Long> pinnedBytes() {
        Map<ObjectId, Long> bytes = new HashMap<>();
        pinned.forEach((key, page) -> bytes.merge(key.version().object(), (long) page.slotBytes(),
                Long::sum));
        return bytes;
    }

    /** Whether so many bytes more would evict nothing. */
    boolean hasRoomFor(long bytes) {
        return eviction.weightedSize().orElse(0) + bytes <= eviction.getMaximum();
    }

    /** Removes a version's pages: by name, or by a look at all keys where those are fewer. */
    void removeAll(ObjectVersion version) {
        long count = Math.ceilDiv(version.sizeBytes(), memory.pageBytes());
        if (count <= size()) {
            for (long index = 0; index < count; index++) {
                remove(new PageKey(version, index));
            }
        } else {
            removeAll(pages.asMap().keySet(), version);
            removeAll(pinned.keySet(), version);
        }
    }

    private void removeAll(Set<PageKey> keys, ObjectVersion version) {
        for (PageKey key : keys) {
            if (key.version().equals(version)) {
                remove(key);
            }
        }
    }

    void clear() {
        pages.invalidateAll();
        pages.cleanUp();
        pinned.keySet().forEach(this::remove);
    }

    /** Evicts at once what Caffeine would evict soon. */
    void cleanUp() {
        follow();
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
        return pages.estimatedSize() + pinned.size();
    }
}
