package io.railhead.cache;

import io.railhead.cache.disk.Kept;
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
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The published pages. The index owns each page from {@link #put} until its removal, which condemns
 * the page. A page found here is a hint: retaining it decides. {@link TenantPartitions} choose the
 * pages to evict. Their limit stays below the capacity by a reserve for fills, so that a fill
 * rarely waits for an eviction.
 *
 * <p> Pinned pages are kept outside the partitions, whose policies would visit them again and
 * again; the partitions' limit is lower by their size. Adding a pinned page, unpinning one, and
 * removing a key happen under {@code pinned}'s lock of that key. So no page moves to the other side
 * while it is being removed. Lock order: partitions are called under that lock, never the other way
 * round. Evictions by a partition condemn the page without looking at the pinned ones. A selection
 * changes before its pages are moved; a put therefore checks the selections again afterwards.
 *
 * <p> A long class, since pinned pages and partitions are changed under these rules only.
 */
final class PageIndex {
    private final PageMemory memory;
    private final int pageBytes;
    private final long runBytes;
    private final Pins pins;
    private final boolean verifying;
    private final EvictionCounts evictionCounts = new EvictionCounts();
    private final CorruptPages corrupt = new CorruptPages();
    private final TenantPartitions tenantPartitions;
    private final CacheOnlyObjects cacheOnly;
    private final ConcurrentMap<PageKey, PinnedPage> pinned = new ConcurrentHashMap<>();
    private final Object maximumLock = new Object();
    private volatile long runsPinned;

    /** @param share the partition that the page returns to when it is unpinned */
    private record PinnedPage(Page page, TenantPartition share) {}

    PageIndex(PageMemory memory, CacheConfig config, Pins pins) {
        this(memory, config, pins, null, System::nanoTime, Runnable::run);
    }

    /**
     * @param lower takes pages that a policy gives up; null if nobody does
     * @param nanoClock the cache's clock
     * @param comparing runs what takes an event loop too long
     */
    PageIndex(PageMemory memory, CacheConfig config, Pins pins, @Nullable LowerTier lower,
            LongSupplier nanoClock, Executor comparing) {
        this.memory = memory;
        this.pageBytes = memory.pageBytes();
        this.runBytes = config.runBytes();
        this.pins = pins;
        this.verifying = config.verification().beforeReads();
        this.tenantPartitions = new TenantPartitions(config.tenants(), config.guestBytes(),
                runBytes, evictionCounts, lower);
        this.cacheOnly = new CacheOnlyObjects(tenantPartitions, evictionCounts, nanoClock,
                config.metadataEntries(), comparing);
        tenantPartitions.ownedBy(cacheOnly);
        memory.onGrowth(this::limit);
        limit();
    }

    private void limit() {
        synchronized (maximumLock) {
            runsPinned = Math.ceilDiv(pins.bytes(), runBytes);
            tenantPartitions.limit(Math.max(0, maximum() - runsPinned * runBytes));
        }
    }

    /**
     * Adjusts the partitions' limit in whole runs, since a policy visits its pages at each change.
     */
    private void follow() {
        if (runsPinned != Math.ceilDiv(pins.bytes(), runBytes)) {
            limit();
        }
    }

    private long maximum() {
        MemoryStats stats = memory.stats();
        return cacheable(stats.capacityBytes() - stats.reserveBytes(), runBytes);
    }

    /** Returns the capacity without the reserve for fills. */
    static long cacheable(long capacity, long runBytes) {
        long fills = Math.max(2 * runBytes, capacity / 16);
        return capacity - Math.min(fills, capacity / 2);
    }

    private void condemn(Page page, EvictionCause cause) {
        if (page.condemn()) {
            evictionCounts.count(cause);
        }
    }

    /** Returns a page without counting a use. */
    @Nullable
    Page peek(PageKey key) {
        if (CacheOnlyObjects.owns(key.version().object())) {
            return cacheOnly.page(key);
        }
        Page page = tenantPartitions.peek(key);
        return page == null ? pinned(key) : page;
    }

    private @Nullable Page pinned(PageKey key) {
        PinnedPage found = pinned.isEmpty() ? null : pinned.get(key);
        return found == null ? null : found.page();
    }

    /**
     * Returns the page for a read that starts at this offset. Two reads do not count as a use: the
     * first one after the put, and one that continues where the last one ended. Otherwise a backup
     * that reads piece by piece would make its pages look as popular as shared ones, and evict
     * those.
     *
     * <p> If reads are verified, the page's bytes are compared with its checksum.
     */
    @Nullable
    Page get(PageKey key, int from) {
        Page page = CacheOnlyObjects.owns(key.version().object())
                ? cacheOnly.page(key)
                : tenantPartitions.get(key, from);
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

    /** Verifies a page if it is still cached; returns its length. */
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

    /** Returns live sets of keys, pinned ones first; a page that is being pinned may be missing. */
    List<Set<PageKey>> keys() {
        List<Set<PageKey>> keys = new ArrayList<>();
        keys.add(pinned.keySet());
        for (TenantPartition tenantPartition : tenantPartitions.all()) {
            keys.add(tenantPartition.keys());
            keys.add(tenantPartition.unreadKeys());
        }
        keys.add(cacheOnly.pageKeys());
        return keys;
    }

    /**
     * Puts a page on disk because an operator wants it there.
     *
     * @param giveUp whether memory gives it up once the disk has it, unless it is pinned
     */
    Kept keepBelow(PageKey key, LowerTier tier, boolean giveUp) {
        Kept kept = tier.keep(key, this::peek);
        if (giveUp && kept == Kept.YES) {
            for (TenantPartition tenantPartition : tenantPartitions.all()) {
                tenantPartition.invalidate(key, EvictionCause.ADMIN);
            }
        }
        return kept;
    }

    /** Returns whether the page is cached, without counting a use. */
    boolean holds(PageKey key) {
        return peek(key) != null;
    }

    /** Returns whether all pages of bytes {@code [from, to)} are cached. */
    boolean holds(ObjectVersion version, long from, long to) {
        for (long page = from / pageBytes; page * pageBytes < to; page++) {
            if (!holds(new PageKey(version, page))) {
                return false;
            }
        }
        return true;
    }

    /** Leases the bytes as {@link ObjectCache#tryLease} does. */
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
        long pageIndex = from / pageBytes;
        int offset = (int) (from - pageIndex * pageBytes);
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

    /** @param tenant the tenant that the page was fetched for */
    void put(PageKey key, Page ownedPage, String tenant) {
        ownedPage.fetchedFor(tenant);
        TenantPartition tenantPartition = tenantPartitions.of(tenant, ownedPage);
        List<Selection> seen = pins.selections();
        if (seen.isEmpty() || !tryPin(key, ownedPage, tenantPartition)) {
            tenantPartitions.put(tenantPartition, key, ownedPage);
        }
        // A selection may have been added or removed during the put.
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

    /** Removes the page from both sides; under the key's lock. */
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
        if (CacheOnlyObjects.owns(key.version().object())) {
            cacheOnly.remove(key, cause);
            return;
        }
        pinned.compute(key, (same, page) -> {
            discard(same, page, cause);
            return null;
        });
    }

    /**
     * Pins or unpins the page, as the current selections require.
     *
     * @return false if it should be pinned and the limit does not allow that
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
     * Moves a page out of its partition. Returns null if another thread has removed it: that thread
     * need not have condemned the page, so it is condemned here.
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
     * Pins or unpins the cached pages that a selection covers.
     *
     * @return false if the limit did not allow all of them
     */
    boolean settle(Selection selection) {
        boolean all = true;
        for (PageKey key : covered(selection)) {
            all &= settle(key);
        }
        follow();
        return all;
    }

    /** Returns a snapshot of the keys that a selection covers. */
    List<PageKey> covered(Selection selection) {
        List<PageKey> keys = new ArrayList<>();
        for (Set<PageKey> each : keys()) {
            each.stream()
                    .filter(key -> selection.covers(key.version().object()))
                    .forEach(keys::add);
        }
        return keys;
    }

    /** Returns the bytes of pinned pages by object. */
    Map<ObjectId, Long> pinnedBytes() {
        Map<ObjectId, Long> bytes = new HashMap<>();
        pinned.forEach((key, held) -> bytes.merge(key.version().object(),
                (long) held.page().slotBytes(), Long::sum));
        return bytes;
    }

    long capacityBytes() {
        return tenantPartitions.capacityBytes();
    }

    /** Returns how many bytes more would evict nothing. */
    long roomBytes() {
        return tenantPartitions.roomBytes();
    }

    /** Returns how many bytes of unread prefetched pages are keptwhile other pages are filled. */
    long unreadBytes() {
        return tenantPartitions.unreadBytes();
    }

    /** Returns the number of a version's pages, cached or not. */
    long pagesOf(ObjectVersion version) {
        return Math.ceilDiv(version.sizeBytes(), (long) pageBytes);
    }

    /** Evicts a version's pages: by key, or by a search through all keys if those are fewer. */
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
        cacheOnly.clear();
    }

    CacheOnlyObjects cacheOnly() {
        return cacheOnly;
    }

    /** Performs pending evictions at once. */
    void cleanUp() {
        follow();
        for (TenantPartition tenantPartition : tenantPartitions.all()) {
            tenantPartition.cleanUp();
        }
    }

    /** Evicts the coldest unleased pages, for a fill of this tenant. */
    void evictColdest(long bytes, String tenant) {
        tenantPartitions.evictColdest(bytes, tenant);
    }

    Map<EvictionCause, Long> evictedPages() {
        return evictionCounts.byCause();
    }

    /** Returns the current use of the tenants that have a rule. */
    List<TenantQuota.Use> uses() {
        return tenantPartitions.uses();
    }

    long size() {
        long size = pinned.size() + cacheOnly.pageCount();
        for (TenantPartition tenantPartition : tenantPartitions.all()) {
            size += tenantPartition.size();
        }
        return size;
    }
}
