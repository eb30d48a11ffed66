package io.railhead.cache;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Policy;
import com.github.benmanes.caffeine.cache.RemovalCause;
import io.railhead.cache.memory.Page;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The pages of one tenant that has a rule, or of all other tenants, with an eviction policy of
 * their own. The partition owns each page until its removal, which condemns the page.
 * {@link TenantPartitions} sets its maximum.
 */
final class TenantPartition {
    /** Less than half of the room that {@link PageIndex} reserves for fills. */
    private static final int UNREAD_PART = 32;
    /** The part of the maximum that cached pages may take from cache-only objects. */
    private static final int PAGES_PART = 8;
    /** Twice what a fill needs is evicted for it, so that the next one finds memory. */
    static final int FILL_PART = 2;

    private final TenantQuota rule;
    private final EvictionCounts evictionCounts;
    private final LongAdder quotaEvictions = new LongAdder();
    private final AtomicLong bytes = new AtomicLong();
    private final Cache<PageKey, Page> pages;
    private final Policy<PageKey, Page> policy;
    private final Policy.Eviction<PageKey, Page> eviction;
    private final PrefetchBuffer unread;
    private final CacheOnlyShare cacheOnly = new CacheOnlyShare();
    private final CacheOnlyDiskOrder onDisk = new CacheOnlyDiskOrder();
    /** Pages that are being removed without being condemned. */
    private final Set<Page> moving = ConcurrentHashMap.newKeySet();
    /** Pages that move to the unread ones without being condemned. */
    private final Set<Page> spared = ConcurrentHashMap.newKeySet();
    private final @Nullable LowerTier lower;
    private volatile long maximum;
    private volatile @Nullable CacheOnlyObjects owner;
    /** The part of the maximum that cache-only objects have, in whole steps. */
    private long cacheOnlySteps;

    /**
     * @param evictionCounts counts pages that are condemned here
     * @param lower takes pages that the policy gives up; null if nobody does
     */
    TenantPartition(TenantQuota rule, EvictionCounts evictionCounts, @Nullable LowerTier lower) {
        this.rule = rule;
        this.evictionCounts = evictionCounts;
        this.lower = lower;
        this.unread = new PrefetchBuffer(evictionCounts);
        this.pages = Caffeine.newBuilder()
                .executor(Runnable::run)
                .maximumWeight(0)
                .weigher((PageKey key, Page page) -> page.slotBytes())
                .evictionListener(this::givenUp)
                .removalListener(this::removed)
                .build();
        this.policy = pages.policy();
        this.eviction = policy.eviction().orElseThrow();
    }

    /**
     * Moves an evicted unread page aside, and offers one that was read to the lower tier. It runs
     * under the map's lock of the key, so a remover comes before or after it: {@link LowerTier}.
     */
    private void givenUp(@Nullable PageKey key, @Nullable Page page, RemovalCause cause) {
        if (key == null || page == null || cause != RemovalCause.SIZE) {
            return;
        }
        if (page.isUnread()) {
            spared.add(page);
            unread.put(key, page);
        } else if (lower != null) {
            // Leased before it is condemned: afterwards nobody gets a lease.
            boolean _ = lower.demote(key, page);
        }
    }

    private void removed(@Nullable PageKey key, @Nullable Page page, RemovalCause cause) {
        if (page == null) {
            return;
        }
        bytes.addAndGet(-page.slotBytes());
        boolean overQuota = cause == RemovalCause.SIZE && maximum == rule.quotaBytes();
        if (overQuota) {
            quotaEvictions.increment();
        }
        if (spared.remove(page)) {
            unread.trim();
            return;
        }
        if (!moving.contains(page) && page.condemn()) {
            switch (cause) {
                case SIZE -> evictionCounts
                        .count(overQuota ? EvictionCause.QUOTA : EvictionCause.PRESSURE);
                case REPLACED -> evictionCounts.count(EvictionCause.INVALIDATED);
                // The remover counts it.
                case EXPLICIT, EXPIRED, COLLECTED -> {
                }
            }
        }
    }

    long quotaBytes() {
        return rule.quotaBytes();
    }

    long floorBytes() {
        return rule.floorBytes();
    }

    /** Returns the bytes that other tenants may evict; negative below the floor. */
    long aboveFloor() {
        return bytes() - floorBytes();
    }

    /** Returns the bytes above the floor that no lease keeps; not positive if there are none. */
    long spareBytes() {
        CacheOnlyObjects objects = owner;
        long leased = objects == null ? 0 : objects.leasedBytes(this);
        return bytes() - Math.max(floorBytes(), leased);
    }

    /** Returns the bytes of pages that are here or announced. */
    long bytes() {
        return bytes.get();
    }

    long quotaEvictions() {
        return quotaEvictions.sum();
    }

    long maximum() {
        return maximum;
    }

    /** Sets the maximum and evicts the excess. One thread at a time. */
    void setMaximum(long newMaximum) {
        maximum = newMaximum;
        eviction.setMaximum(pagesMaximum());
        unread.limit(unreadBytes());
        trimCacheOnly();
    }

    private long pagesMaximum() {
        return Math.max(maximum / PAGES_PART, maximum - cacheOnlySteps);
    }

    /** Evicts the cache-only objects above their limit. */
    void trimCacheOnly() {
        long excess = cacheOnly.bytes() - cacheOnlyLimit(pageBytes());
        evictCacheOnly(excess, maximum == rule.quotaBytes()
                ? EvictionCause.QUOTA
                : EvictionCause.PRESSURE, new Freed());
    }

    private void evictCacheOnly(long wanted, EvictionCause cause, Freed freed) {
        CacheOnlyObjects objects = owner;
        if (wanted > 0 && objects != null) {
            objects.evictOldest(this, wanted, cause, freed);
        }
    }

    /** Sets who evicts cache-only objects from here; before any is put. */
    void ownedBy(CacheOnlyObjects objects) {
        owner = objects;
    }

    /** Returns the cache-only objects here, whose bytes count in {@link #bytes} too. */
    CacheOnlyShare cacheOnly() {
        return cacheOnly;
    }

    /** Returns the cache-only objects that are on disk, and take no memory. */
    CacheOnlyDiskOrder onDisk() {
        return onDisk;
    }

    /** Returns the number of cache-only objects, wherever their bytes are. */
    int cacheOnlyObjects() {
        return cacheOnly.count() + onDisk.count();
    }

    /** Returns the bytes of cached pages. */
    long pageBytes() {
        return Math.max(0, bytes() - cacheOnly.bytes());
    }

    /**
     * Returns the most bytes of cache-only objects: all but what cached pages have, of which a part
     * is safe from them.
     */
    long cacheOnlyLimit(long pageBytes) {
        return maximum - Math.min(maximum / PAGES_PART, pageBytes);
    }

    /**
     * Leaves to cached pages what cache-only objects do not need, in steps, since the policy visits
     * its pages at each change. One thread at a time, as {@link #setMaximum}.
     */
    void follow(long stepBytes) {
        long steps = Math.ceilDiv(cacheOnly.bytes(), stepBytes) * stepBytes;
        if (steps != cacheOnlySteps) {
            cacheOnlySteps = steps;
            eviction.setMaximum(pagesMaximum());
        }
    }

    /** Counts bytes that the next {@link #put} brings; negative for a cache-only object's end. */
    void announce(long pageBytes) {
        bytes.addAndGet(pageBytes);
    }

    /** Takes a page that was announced. */
    void put(PageKey key, Page ownedPage) {
        unread.invalidate(key);
        pages.put(key, ownedPage);
    }

    @Nullable
    Page peek(PageKey key) {
        Page page = policy.getIfPresentQuietly(key);
        return page == null ? unread.peek(key) : page;
    }

    void touch(PageKey key) {
        Page _ = pages.getIfPresent(key);
    }

    void invalidate(PageKey key, EvictionCause cause) {
        if (pages.asMap().remove(key) != null) {
            evictionCounts.count(cause);
        }
        if (unread.invalidate(key)) {
            evictionCounts.count(cause);
        }
    }

    /** Removes a page without condemning it; false if it is not here. */
    boolean tryTake(PageKey key, Page page) {
        moving.add(page);
        boolean taken = pages.asMap().remove(key, page);
        moving.remove(page);
        return taken || unread.tryTake(key, page);
    }

    /** Returns a live set of keys. */
    Set<PageKey> keys() {
        return pages.asMap().keySet();
    }

    long unreadBytes() {
        return maximum / UNREAD_PART;
    }

    /** Returns the keys of pages that were evicted unread. */
    Set<PageKey> unreadKeys() {
        return unread.keys();
    }

    /** Performs pending evictions at once. */
    void cleanUp() {
        pages.cleanUp();
    }

    void clear() {
        pages.invalidateAll();
        pages.cleanUp();
        unread.clear();
    }

    /**
     * Evicts the coldest unleased pages, at least so many bytes if there are. They are offered to
     * the lower tier too. Those that it takes keep their memory until they are written, and a fill
     * waits for a half of these bytes now: so others go in their place. The tier's queue bounds how
     * many.
     *
     * @return the bytes evicted
     */
    long evictColdest(long wanted) {
        // Cached pages keep their part: cache-only objects make up for what is beyond it.
        long spare = Math.max(0, pageBytes() - maximum / PAGES_PART);
        Freed ofObjects = new Freed();
        evictCacheOnly(wanted - spare, EvictionCause.PRESSURE, ofObjects);
        long missing = wanted - ofObjects.now - ofObjects.later;
        long missingNow = wanted / FILL_PART - ofObjects.now;
        boolean progress = true;
        // A few at a time: the policy is locked while it lists them.
        while (progress && (missing > 0 || missingNow > 0)) {
            progress = false;
            for (PageKey key : coldest(Math.max(missing, missingNow))) {
                Freed freed = evict(key);
                missing -= freed.now + freed.later;
                missingNow -= freed.now;
                progress |= freed.now + freed.later > 0;
            }
        }
        progress = true;
        while (progress && (missing > 0 || missingNow > 0)) {
            Freed more = new Freed();
            evictCacheOnly(Math.max(missing, missingNow), EvictionCause.PRESSURE, more);
            missing -= more.now + more.later;
            missingNow -= more.now;
            progress = more.now + more.later > 0;
        }
        return wanted - missing;
    }

    /** The bytes of an eviction. */
    static final class Freed {
        private long now;
        /** Once the lower tier has written them. */
        private long later;

        /** @param isLater whether the disk must take them first */
        void add(long bytes, boolean isLater) {
            if (isLater) {
                later += bytes;
            } else {
                now += bytes;
            }
        }
    }

    private List<PageKey> coldest(long wanted) {
        return eviction.coldest(entries -> {
            List<PageKey> keys = new ArrayList<>();
            long[] missing = {wanted};
            entries.filter(entry -> !entry.getValue().isLeased())
                    .takeWhile(entry -> missing[0] > 0)
                    .forEach(entry -> {
                        keys.add(entry.getKey());
                        missing[0] -= entry.weight();
                    });
            return keys;
        });
    }

    private Freed evict(PageKey key) {
        Freed freed = new Freed();
        pages.asMap().computeIfPresent(key, (same, page) -> {
            // Under the lock of the key, as in an eviction by the policy, and before it is
            // condemned.
            if (lower != null && lower.demote(same, page)) {
                freed.later = page.slotBytes();
            } else {
                freed.now = page.slotBytes();
            }
            return null;
        });
        if (freed.now + freed.later > 0) {
            evictionCounts.count(EvictionCause.PRESSURE);
        }
        return freed;
    }

    long size() {
        return pages.estimatedSize() + unread.keys().size();
    }
}
