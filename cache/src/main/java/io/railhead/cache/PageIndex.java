package io.railhead.cache;

import io.railhead.cache.memory.Lease;
import io.railhead.cache.memory.MemoryStats;
import io.railhead.cache.memory.Page;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageSlice;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * The published pages; owns each from {@link #put} until it is removed, which condemns it. A page
 * found here is a hint: retaining it decides. {@link TenantPartitions} say who goes; what they may
 * have stays below the capacity by a reserve for fills, so that a fill rarely has to wait for an
 * eviction.
 *
 * <p> Pinned pages are kept beside the shares, whose policies would look at each of them again and
 * again, and what those may have is that much lower. Whoever puts a page there, takes one away, or
 * removes a key does so under {@code pinned}'s lock of that key, so that no page slips from one
 * side to the other while it is being removed. Within it the shares are called, never the other way
 * round: what they evict is condemned without a look at the pinned. A selection changes before the
 * pages that it covers do; whoever puts a page looks at the selections again afterwards.
 */
final class PageIndex {
    private final PageMemory memory;
    private final long runBytes;
    private final Pins pins;
    private final boolean verifying;
    private final EvictionCounts evictionCounts = new EvictionCounts();
    private final CorruptPages corrupt = new CorruptPages();
    private final TenantPartitions tenantPartitions;
    private final ConcurrentMap<PageKey, PinnedPage> pinned = new ConcurrentHashMap<>();
    private final Object maximumLock = new Object();
    private volatile long runsPinned;

    /** @param share where it goes when it is no longer pinned */
    private record PinnedPage(Page page, TenantPartition share) {}

    PageIndex(PageMemory memory, CacheConfig config, Pins pins) {
        this.memory = memory;
        this.runBytes = config.runBytes();
        this.pins = pins;
        this.verifying = config.verification().beforeReads();
        this.tenantPartitions = new TenantPartitions(config.tenants(), runBytes, evictionCounts);
        memory.onGrowth(this::limit);
        limit();
    }

    private void limit() {
        synchronized (maximumLock) {
            runsPinned = Math.ceilDiv(pins.bytes(), runBytes);
            tenantPartitions.limit(Math.max(0, maximum() - runsPinned * runBytes));
        }
    }

    /** By whole runs, since a policy goes over its pages each time. */
    private void follow() {
        if (runsPinned != Math.ceilDiv(pins.bytes(), runBytes)) {
            limit();
        }
    }

    private long maximum() {
        MemoryStats stats = memory.stats();
        return cacheable(stats.capacityBytes() - stats.reserveBytes(), runBytes);
    }

    /** What is left of the capacity once there is room for fills. */
    static long cacheable(long capacity, long runBytes) {
        long fills = Math.max(2 * runBytes, capacity / 16);
        return capacity - Math.min(fills, capacity / 2);
    }

    private void condemn(Page page, EvictionCause cause) {
        if (page.condemn()) {
            evictionCounts.count(cause);
        }
    }

    /** A look that is no sign of the page's being wanted. */
    @Nullable
    Page peek(PageKey key) {
        Page page = tenantPartitions.peek(key);
        return page == null ? pinned(key) : page;
    }

    private @Nullable Page pinned(PageKey key) {
        PinnedPage found = pinned.isEmpty() ? null : pinned.get(key);
        return found == null ? null : found.page();
    }

    /**
     * For a read that begins so far into the page. The first one after it was put, and one that
     * goes on where the last one ended, are no further sign that the page is wanted: else a backup
     * that reads bit by bit, or what was fetched ahead of it, would look as popular as what many
     * read, and evict it.
     *
     * <p> Where reads are verified, it has the bytes that it was filled with.
     */
    @Nullable
    Page get(PageKey key, int from) {
        Page page = tenantPartitions.get(key, from);
        if (page == null) {
            page = pinned(key);
        }
        if (page == null || !verifying || page.isIntact()) {
            return page;
        }
        remove(key, EvictionCause.CORRUPT);
        corrupt.read(key);
        return null;
    }

    /** Looks at a page, if it is here still; how many bytes it has. */
    int scrub(PageKey key) {
        Page page = peek(key);
        if (page == null) {
            return 0;
        }
        if (!page.isIntact()) {
            remove(key, EvictionCause.CORRUPT);
            corrupt.scrubbed(key);
        }
        corrupt.looked(page.length());
        return page.length();
    }

    Verification.Counts verified() {
        return corrupt.counts();
    }

    /** As they come and go; a page that is being pinned may be missed. */
    List<Set<PageKey>> keys() {
        List<Set<PageKey>> keys = new ArrayList<>();
        for (TenantPartition tenantPartition : tenantPartitions.all()) {
            keys.add(tenantPartition.keys());
            keys.add(tenantPartition.unreadKeys());
        }
        keys.add(pinned.keySet());
        return keys;
    }

    /** Whether it is here, which says nothing of how often it is read. */
    boolean holds(PageKey key) {
        return peek(key) != null;
    }

    /** Whether all pages of bytes {@code [from, to)} are here. */
    boolean holds(ObjectVersion version, long from, long to) {
        for (long page = from / memory.pageBytes(); page * memory.pageBytes() < to; page++) {
            if (!holds(new PageKey(version, page))) {
                return false;
            }
        }
        return true;
    }

    /** {@link ObjectCache#tryLease}. */
    int tryLease(ObjectVersion version, long from, long to, @Nullable PageSlice[] slices) {
        int count = 0;
        long at = from;
        while (at < to) {
            PageSlice slice = count == slices.length ? null : tryLease(version, at, to);
            if (slice == null) {
                release(slices, count);
                return -1;
            }
            slices[count++] = slice;
            at += slice.length();
        }
        return count;
    }

    private @Nullable PageSlice tryLease(ObjectVersion version, long from, long to) {
        long pageIndex = from / memory.pageBytes();
        int offset = (int) (from - pageIndex * memory.pageBytes());
        Page page = get(new PageKey(version, pageIndex), offset);
        Lease lease = page == null ? null : page.tryRetain();
        if (lease == null) {
            return null;
        }
        int length = (int) Math.min(lease.page().length() - offset, to - from);
        lease.page().readTo(offset + length);
        return new PageSlice(lease, from, offset, length);
    }

    private static void release(@Nullable PageSlice[] slices, int count) {
        for (int i = 0; i < count; i++) {
            PageSlice slice = slices[i];
            if (slice != null) {
                slice.close();
            }
            slices[i] = null;
        }
    }

    /** @param tenant whom it was fetched for */
    void put(PageKey key, Page ownedPage, String tenant) {
        TenantPartition tenantPartition = tenantPartitions.of(tenant);
        List<Selection> seen = pins.selections();
        if (seen.isEmpty() || !tryPin(key, ownedPage, tenantPartition)) {
            tenantPartitions.put(tenantPartition, key, ownedPage);
        }
        // A selection may have come, or gone, while the page was on its way.
        if (!seen.equals(pins.selections())) {
            settle(key);
        }
        follow();
    }

    private boolean tryPin(PageKey key, Page ownedPage, TenantPartition tenantPartition) {
        boolean[] taken = {false};
        pinned.compute(key, (same, before) -> {
            taken[0] = pins.covers(same.version().object())
                    && pins.tryReserve(ownedPage.slotBytes());
            if (!taken[0]) {
                return before;
            }
            discard(same, before, EvictionCause.INVALIDATED);
            return new PinnedPage(ownedPage, tenantPartition);
        });
        return taken[0];
    }

    /** Under the key's lock. */
    private void discard(PageKey key, @Nullable PinnedPage pinnedPage,
            EvictionCause cause) {
        for (TenantPartition tenantPartition : tenantPartitions.all()) {
            tenantPartition.invalidate(key, cause);
        }
        if (pinnedPage != null) {
            pins.release(pinnedPage.page().slotBytes());
            condemn(pinnedPage.page(), cause);
        }
    }

    void remove(PageKey key, EvictionCause cause) {
        pinned.compute(key, (same, page) -> {
            discard(same, page, cause);
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
        pinned.compute(key, (same, held) -> {
            boolean wanted = pins.covers(same.version().object());
            if (held == null) {
                TenantPartition tenantPartition = wanted ? tenantPartitions.find(same) : null;
                Page found = tenantPartition == null ? null : tenantPartition.peek(same);
                refused[0] = found != null && !pins.tryReserve(found.slotBytes());
                return tenantPartition == null || found == null || refused[0]
                        ? null
                        : tryMove(same, found, tenantPartition);
            }
            if (wanted) {
                return held;
            }
            pins.release(held.page().slotBytes());
            tenantPartitions.put(held.share(), same, held.page());
            return null;
        });
        return !refused[0];
    }

    /**
     * Out of its share; null where it was removed before, by whom it may not have been condemned.
     */
    private @Nullable PinnedPage tryMove(PageKey key, Page page, TenantPartition tenantPartition) {
        if (tenantPartition.tryTake(key, page)) {
            return new PinnedPage(page, tenantPartition);
        }
        pins.release(page.slotBytes());
        condemn(page, EvictionCause.PRESSURE);
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
        for (Set<PageKey> each : keys()) {
            each.stream()
                    .filter(key -> selection.covers(key.version().object()))
                    .forEach(keys::add);
        }
        return keys;
    }

    /** The pinned pages' bytes of each object. */
    Map<ObjectId, Long> pinnedBytes() {
        Map<ObjectId, Long> bytes = new HashMap<>();
        pinned.forEach((key, held) -> bytes.merge(key.version().object(),
                (long) held.page().slotBytes(), Long::sum));
        return bytes;
    }

    long capacityBytes() {
        return tenantPartitions.capacityBytes();
    }

    /** So many bytes more would evict nothing. */
    long roomBytes() {
        return tenantPartitions.roomBytes();
    }

    /** So much of what was fetched ahead is kept until it is read, whatever else comes. */
    long unreadBytes() {
        return tenantPartitions.unreadBytes();
    }

    /** How many it has, held or not. */
    long pagesOf(ObjectVersion version) {
        return Math.ceilDiv(version.sizeBytes(), (long) memory.pageBytes());
    }

    /** Removes a version's pages: by name, or by a look at all keys where those are fewer. */
    void removeAll(ObjectVersion version, EvictionCause cause) {
        long count = pagesOf(version);
        if (count <= size()) {
            for (long index = 0; index < count; index++) {
                remove(new PageKey(version, index), cause);
            }
        } else {
            for (Set<PageKey> each : keys()) {
                each.stream()
                        .filter(key -> key.version().equals(version))
                        .forEach(key -> remove(key, cause));
            }
        }
    }

    void clear() {
        for (TenantPartition tenantPartition : tenantPartitions.all()) {
            tenantPartition.clear();
        }
        pinned.keySet().forEach(key -> remove(key, EvictionCause.INVALIDATED));
    }

    /** Evicts at once what would be evicted soon. */
    void cleanUp() {
        follow();
        for (TenantPartition tenantPartition : tenantPartitions.all()) {
            tenantPartition.cleanUp();
        }
    }

    /** Evicts the coldest pages that nobody leases, for a fill of the tenant's. */
    void evictColdest(long bytes, String tenant) {
        tenantPartitions.evictColdest(bytes, tenant);
    }

    Map<EvictionCause, Long> evictedPages() {
        return evictionCounts.byCause();
    }

    /** What the tenants that have a rule have. */
    List<TenantQuota.Use> uses() {
        return tenantPartitions.uses();
    }

    long size() {
        long size = pinned.size();
        for (TenantPartition tenantPartition : tenantPartitions.all()) {
            size += tenantPartition.size();
        }
        return size;
    }
}
