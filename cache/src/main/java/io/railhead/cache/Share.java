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
 * goes. Owns each page until it is removed, which condemns it. {@link Shares} moves its maximum.
 */
final class Share {
    private final TenantShare rule;
    private final LongAdder evicted;
    private final LongAdder quotaEvictions = new LongAdder();
    private final AtomicLong bytes = new AtomicLong();
    private final Cache<PageKey, Page> pages;
    private final Policy<PageKey, Page> policy;
    private final Policy.Eviction<PageKey, Page> eviction;
    /** Pages that leave without being condemned. */
    private final Set<Page> moving = ConcurrentHashMap.newKeySet();
    private volatile long maximum;

    /** @param evicted counts pages that were condemned here */
    Share(TenantShare rule, LongAdder evicted) {
        this.rule = rule;
        this.evicted = evicted;
        this.pages = Caffeine.newBuilder()
                .executor(Runnable::run)
                .maximumWeight(0)
                .weigher((PageKey key, Page page) -> page.slotBytes())
                .removalListener(this::removed)
                .build();
        this.policy = pages.policy();
        this.eviction = policy.eviction().orElseThrow();
    }

    private void removed(@Nullable PageKey key, @Nullable Page page, RemovalCause cause) {
        if (page == null) {
            return;
        }
        bytes.addAndGet(-page.slotBytes());
        if (cause == RemovalCause.SIZE && maximum == rule.quotaBytes()) {
            quotaEvictions.increment();
        }
        if (!moving.contains(page) && page.condemn()) {
            evicted.increment();
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
    }

    /** Counts a page that {@link #put} brings next. */
    void announce(int pageBytes) {
        bytes.addAndGet(pageBytes);
    }

    /** Takes a page that was announced. */
    void put(PageKey key, Page ownedPage) {
        pages.put(key, ownedPage);
    }

    @Nullable
    Page peek(PageKey key) {
        return policy.getIfPresentQuietly(key);
    }

    void touch(PageKey key) {
        Page _ = pages.getIfPresent(key);
    }

    void invalidate(PageKey key) {
        pages.invalidate(key);
    }

    /** Takes it out, condemned no more than it was; false where it is not here. */
    boolean tryTake(PageKey key, Page page) {
        moving.add(page);
        boolean taken = pages.asMap().remove(key, page);
        moving.remove(page);
        return taken;
    }

    /** The keys, as they come and go. */
    Set<PageKey> keys() {
        return pages.asMap().keySet();
    }

    /** Evicts at once what would be evicted soon. */
    void cleanUp() {
        pages.cleanUp();
    }

    void clear() {
        pages.invalidateAll();
        pages.cleanUp();
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
        pages.invalidateAll(coldest);
    }

    long size() {
        return pages.estimatedSize();
    }
}
