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
 * The pages of one tenant that has a rule, or of all others: a policy of its own says who of them
 * goes. Owns each page until it is removed, which condemns it. {@link TenantPartitions} moves its
 * maximum.
 */
final class TenantPartition {
    /** Less than half of what {@link PageIndex} leaves free for fills. */
    private static final int UNREAD_PART = 32;

    private final TenantQuota rule;
    private final EvictionCounts evictionCounts;
    private final LongAdder quotaEvictions = new LongAdder();
    private final AtomicLong bytes = new AtomicLong();
    private final Cache<PageKey, Page> pages;
    private final Policy<PageKey, Page> policy;
    private final Policy.Eviction<PageKey, Page> eviction;
    private final PrefetchBuffer unread;
    /** Pages that leave without being condemned. */
    private final Set<Page> moving = ConcurrentHashMap.newKeySet();
    /** The same, to the unread ones. */
    private final Set<Page> spared = ConcurrentHashMap.newKeySet();
    private volatile long maximum;

    /** @param evictionCounts counts pages that were condemned here */
    TenantPartition(TenantQuota rule, EvictionCounts evictionCounts) {
        this.rule = rule;
        this.evictionCounts = evictionCounts;
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

    /** Under the map's lock of the key: whoever removes it finds it here, or there. */
    private void givenUp(@Nullable PageKey key, @Nullable Page page, RemovalCause cause) {
        if (key != null && page != null && cause == RemovalCause.SIZE && page.isUnread()) {
            spared.add(page);
            unread.put(key, page);
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
        } else if (!moving.contains(page) && page.condemn()) {
            switch (cause) {
                case SIZE -> evictionCounts
                        .count(overQuota ? EvictionCause.QUOTA : EvictionCause.PRESSURE);
                case REPLACED -> evictionCounts.count(EvictionCause.INVALIDATED);
                // Whoever took it out counts it.
                case EXPLICIT, EXPIRED, COLLECTED -> {
                }
            }
        }
    }

    long quotaBytes() {
        return rule.quotaBytes();
    }

    /** What others may have evicted; below 0 where it has less than its floor. */
    long aboveFloor() {
        return bytes() - rule.floorBytes();
    }

    /** Pages that are here, or announced. */
    long bytes() {
        return bytes.get();
    }

    long quotaEvictions() {
        return quotaEvictions.sum();
    }

    long maximum() {
        return maximum;
    }

    /** Evicts what is too much now. One thread at a time. */
    void setMaximum(long newMaximum) {
        maximum = newMaximum;
        eviction.setMaximum(newMaximum);
        unread.limit(unreadBytes());
    }

    /** Counts a page that {@link #put} brings next. */
    void announce(int pageBytes) {
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

    /** Takes it out, condemned no more than it was; false where it is not here. */
    boolean tryTake(PageKey key, Page page) {
        moving.add(page);
        boolean taken = pages.asMap().remove(key, page);
        moving.remove(page);
        return taken || unread.tryTake(key, page);
    }

    /** The keys, as they come and go. */
    Set<PageKey> keys() {
        return pages.asMap().keySet();
    }

    long unreadBytes() {
        return maximum / UNREAD_PART;
    }

    /** Of pages that were given up unread. */
    Set<PageKey> unreadKeys() {
        return unread.keys();
    }

    /** Evicts at once what would be evicted soon. */
    void cleanUp() {
        pages.cleanUp();
    }

    void clear() {
        pages.invalidateAll();
        pages.cleanUp();
        unread.clear();
    }

    /** Evicts the coldest pages that nobody leases, of at least so many bytes if there are. */
    void evictColdest(long wanted) {
        List<PageKey> coldest = eviction.coldest(entries -> {
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
        for (PageKey key : coldest) {
            if (pages.asMap().remove(key) != null) {
                evictionCounts.count(EvictionCause.PRESSURE);
            }
        }
    }

    long size() {
        return pages.estimatedSize() + unread.keys().size();
    }
}
