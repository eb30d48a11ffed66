package io.railhead.cache;

import io.railhead.cache.FillException.Reason;
import io.railhead.cache.memory.Page;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageMemory.Pool;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The pages in flight: each is fetched by one fill for all waiting readers.
 *
 * <p> The protocol. Pages of one block are claimed under one short striped lock, so the first
 * reader takes all missing pages of the block as one run. Under the lock a reader searches this
 * table first, then the index. A fill puts its page into the index before it leaves this table. So
 * a page in neither belongs to nobody. Settling takes no lock. A failed claim leaves the table
 * before its waiters are called, so they do not find it again.
 *
 * <p> A long class: the whole protocol in one place.
 */
final class FillTable {
    private static final int LOCKS = 256;

    /** A reader in need of a page. */
    interface Seeker {
        PageKey key();

        /** Returns the offset in the page at which the reader starts. */
        default int from() {
            return 0;
        }

        /** Takes a page of the index; false if it was evicted meanwhile. */
        boolean tryHold(Page page);

        /** Waits for a claim, which this reader must fetch itself if told {@link Fetcher#SELF}. */
        void join(FillClaim fillClaim, Fetcher fetcher);
    }

    /**
     * A seeker of missing pages only: it takes no cached page, and does not wait for other fills.
     */
    record Missing(PageKey key) implements Seeker {
        @Override
        public boolean tryHold(Page page) {
            return true;
        }

        @Override
        public void join(FillClaim fillClaim, Fetcher fetcher) {
            // A later reader will wait for the page.
        }
    }

    enum Fetcher {
        SELF,
        OTHER
    }

    final LongAdder hits = new LongAdder();
    final LongAdder misses = new LongAdder();
    final LongAdder joins = new LongAdder();
    final LongAdder runs = new LongAdder();
    final LongAdder filledBytes = new LongAdder();
    final LongAdder failures = new LongAdder();
    final LongAdder shortages = new LongAdder();

    private final PageMemory memory;
    private final PageIndex index;
    private final Writes writes;
    private final UnaryOperator<ObjectVersion> heldAs;
    private final Consumer<ObjectVersion> forget;
    private final FillChecksums sums;
    private final @Nullable LowerTier lower;
    private final int pagesPerRun;
    private final Object[] locks = new Object[LOCKS];
    private final ConcurrentMap<PageKey, FillClaim> inFlight = new ConcurrentHashMap<>();
    private volatile boolean closed;

    /**
     * @param heldAs returns the cached instance of a version, which all keys share
     * @param forget evicts everything of a version whose bytes were wrong
     */
    FillTable(PageMemory memory, PageIndex index, Writes writes, long runBytes,
            UnaryOperator<ObjectVersion> heldAs, Consumer<ObjectVersion> forget) {
        this(memory, index, writes, runBytes, heldAs, forget, null);
    }

    /** @param lower has pages that memory has not; null if there is none */
    FillTable(PageMemory memory, PageIndex index, Writes writes, long runBytes,
            UnaryOperator<ObjectVersion> heldAs, Consumer<ObjectVersion> forget,
            @Nullable LowerTier lower) {
        this.lower = lower;
        this.memory = memory;
        this.index = index;
        this.writes = writes;
        this.heldAs = heldAs;
        this.forget = forget;
        this.sums = new FillChecksums(memory.pageBytes(), FillChecksums.MOST_PAGES);
        this.pagesPerRun = (int) Math.max(1, runBytes / memory.pageBytes());
        Arrays.setAll(locks, i -> new Object());
    }

    int pageBytes() {
        return memory.pageBytes();
    }

    int pagesPerRun() {
        return pagesPerRun;
    }

    PageMemory memory() {
        return memory;
    }

    int lengthOf(PageKey key) {
        long start = key.index() * pageBytes();
        return (int) Math.min(pageBytes(), key.version().sizeBytes() - start);
    }

    /**
     * Gives each seeker of one block its page, a claim to wait for, or a new claim to fetch.
     * Returns the new claims.
     *
     * @param tenant the tenant that new claims are fetched for
     */
    List<FillClaim> claimMissing(List<? extends Seeker> seekers, String tenant) {
        List<Seeker> missing = new ArrayList<>();
        for (Seeker seeker : seekers) {
            if (!tryHit(seeker)) {
                missing.add(seeker);
            }
        }
        if (missing.isEmpty()) {
            return List.of();
        }
        ObjectVersion version = heldAs.apply(missing.getFirst().key().version());
        List<FillClaim> claimed = new ArrayList<>();
        synchronized (lockOf(missing.getFirst().key())) {
            for (Seeker seeker : missing) {
                FillClaim mine = find(seeker, version, tenant);
                if (mine != null) {
                    claimed.add(mine);
                }
            }
        }
        return claimed;
    }

    /**
     * Takes a page from the index. A cached page is valid whatever else happens, so hits take no
     * lock.
     */
    private boolean tryHit(Seeker seeker) {
        Page page = index.get(seeker.key(), seeker.from());
        if (page == null || !seeker.tryHold(page)) {
            return false;
        }
        hits.increment();
        return true;
    }

    private @Nullable FillClaim find(Seeker seeker, ObjectVersion version,
            String tenant) {
        PageKey key = new PageKey(version, seeker.key().index());
        FillClaim flying = inFlight.get(key);
        // A page may be evicted before its fill has left the table: joining that fill again and
        // again would spin, and never end on a thread that the fill needs.
        if (flying != null && !flying.isEvicted()) {
            joins.increment();
            seeker.join(flying, Fetcher.OTHER);
            return null;
        }
        if (tryHit(seeker)) {
            return null;
        }
        misses.increment();
        FillClaim mine = new FillClaim(key, writes.epoch(key.version().object()), tenant);
        inFlight.put(key, mine);
        seeker.join(mine, Fetcher.SELF);
        return mine;
    }

    /** Returns a source that asks the lower tier before the store. */
    PageSource throughLower(PageSource source) {
        return lower == null ? source : lower.before(source);
    }

    /**
     * Splits claims in page order into runs, at each page that another fill has, or another tier.
     */
    List<List<FillClaim>> runs(List<FillClaim> claims) {
        List<List<FillClaim>> runs = adjacent(claims);
        return lower == null ? runs : lower.split(runs);
    }

    private static List<List<FillClaim>> adjacent(List<FillClaim> claims) {
        List<List<FillClaim>> runs = new ArrayList<>();
        int from = 0;
        for (int to = 1; to <= claims.size(); to++) {
            if (to == claims.size()
                    || claims.get(to).key().index() != claims.get(to - 1).key().index() + 1) {
                runs.add(claims.subList(from, to));
                from = to;
            }
        }
        return runs;
    }

    /** Returns the right to fill a page; null if it is cached or being fetched. */
    @Nullable
    FillClaim tryClaim(PageKey key, String tenant) {
        List<FillClaim> mine = claimMissing(List.of(new Missing(key)), tenant);
        return mine.isEmpty() ? null : mine.getFirst();
    }

    boolean isFetching(PageKey key) {
        return inFlight.containsKey(key);
    }

    private Object lockOf(PageKey key) {
        int hash = key.version().hashCode() * 31 + Long.hashCode(key.index() / pagesPerRun);
        return locks[(hash * 0x9E3779B9) >>> 24];
    }

    /** Fails claims for which there is no memory. */
    void abandon(List<FillClaim> claims) {
        if (claims.isEmpty()) {
            // Every hit comes here, so no exception is created in vain.
            return;
        }
        FillException cause = new FillException(Reason.NO_MEMORY, "no memory for a page", null);
        claims.forEach(fillClaim -> failed(fillClaim, null, cause));
    }

    /**
     * Returns a fill of adjacent claims; null, with nothing changed, if there is no memory now.
     *
     * @param against the checksums to compare the pages with; null if none are known
     */
    @Nullable
    Fill tryFill(List<@Nullable FillClaim> claims, int[] lengths, long ignoredTail,
            Pool pool, FillChecksums.@Nullable Sums against) {
        int[] wanted = new int[lengths.length];
        int count = 0;
        String tenant = "";
        for (int i = 0; i < lengths.length; i++) {
            FillClaim fillClaim = claims.get(i);
            if (fillClaim != null) {
                wanted[count++] = lengths[i];
                tenant = fillClaim.tenant();
            }
        }
        List<Page> pages = tryAllocate(Arrays.copyOf(wanted, count), pool, tenant);
        if (pages == null) {
            return null;
        }
        List<Fill.Part> parts = new ArrayList<>(lengths.length);
        int next = 0;
        for (int i = 0; i < lengths.length; i++) {
            FillClaim fillClaim = claims.get(i);
            parts.add(new Fill.Part(fillClaim, fillClaim == null ? null : pages.get(next++),
                    lengths[i]));
        }
        runs.increment();
        return new Fill(this, parts, ignoredTail, against);
    }

    /** Allocates pages, after evicting others if needed; null if that did not help. */
    @Nullable
    List<Page> tryAllocate(int[] lengths, Pool pool, String tenant) {
        List<Page> pages = memory.tryAllocate(lengths, pool);
        if (pages == null && pool == Pool.CACHE) {
            index.cleanUp();
            pages = memory.tryAllocate(lengths, pool);
        }
        if (pages == null && pool == Pool.CACHE) {
            index.evictColdest(TenantPartition.FILL_PART
                    * Arrays.stream(lengths).asLongStream().sum(), tenant);
            pages = memory.tryAllocate(lengths, pool);
        }
        if (pages == null && pool == Pool.CACHE) {
            // The evicted pages may have been small ones, in large slots that stay in use.
            pages = memory.tryGather(lengths, pool);
        }
        return pages;
    }

    /**
     * Fetches a run of adjacent claims; false, with nothing changed, if there is no memory.
     *
     * @param against the checksums to compare the pages with; null if none are known
     */
    boolean tryFetch(List<FillClaim> run, PageSource source, Pool pool,
            FillChecksums.@Nullable Sums against) {
        int[] lengths = run.stream().mapToInt(fillClaim -> lengthOf(fillClaim.key())).toArray();
        PageKey first = run.getFirst().key();
        Fill fill = tryFill(new ArrayList<>(run), lengths, 0, pool, against);
        if (fill == null) {
            return false;
        }
        long bytes = Arrays.stream(lengths).asLongStream().sum();
        try {
            source.fetch(first.version(), first.index() * pageBytes(), bytes, fill);
        } catch (RuntimeException | Error e) {
            fill.fail(new FillException(Reason.BACKEND_FAILED, "the fetch could not be sent", e));
        }
        return true;
    }

    /**
     * Publishes a complete page. All waiters retain it before it can be evicted.
     *
     * @param against the checksums that it matched; null if none are known
     */
    void published(FillClaim fillClaim, Page ownedPage, FillChecksums.@Nullable Sums against) {
        filledBytes.add(ownedPage.length());
        if (!fillClaim.settle(new FillClaim.Filled(ownedPage))) {
            ownedPage.fetchedAhead();
        }
        boolean kept = ownedPage.pool() == Pool.CACHE && mayKeep(fillClaim)
                && tryPut(fillClaim, ownedPage, against);
        inFlight.remove(fillClaim.key(), fillClaim);
        if (!kept) {
            ownedPage.condemn();
        } else if (!mayKeep(fillClaim)) {
            // A write or the shutdown came between the check and the put, and may have missed the
            // page.
            index.remove(fillClaim.key(), EvictionCause.INVALIDATED);
            if (lower != null) {
                // The policy may have given it up already, at an epoch that would let it be kept.
                lower.forget(fillClaim.key());
            }
        }
    }

    private boolean tryPut(FillClaim fillClaim, Page page, FillChecksums.@Nullable Sums against) {
        Runnable put = () -> index.put(fillClaim.key(), page, fillClaim.tenant());
        if (against != null) {
            return against.tryKeep(put);
        }
        put.run();
        return true;
    }

    /**
     * Handles wrong bytes in a version; the wrong page is unknown. All its cached pages are
     * evicted, and its pages in flight get no new waiters. Only then may new fills start. Older
     * fills still compare with the refuted checksums and fail; their waiters fetch anew.
     */
    void corrupt(ObjectVersion version, FillChecksums.Sums wrong) {
        if (sums.tryRefute(version, wrong)) {
            forget.accept(version);
            inFlight.keySet().removeIf(key -> key.version().equals(version));
            sums.drop(version, wrong);
        }
    }

    /**
     * Evicts a version's uploaded pages once a fetched page has matched, before that page is
     * published. Uploaded pages were not compared: mixed with fetched ones, they would pass for an
     * object that was checked as a whole.
     */
    void agreed(ObjectVersion version, FillChecksums.Sums with) {
        with.fetched(() -> index.removeAll(version, EvictionCause.INVALIDATED));
    }

    /**
     * Publishes an upload's page, unless fetched pages of its version are cached: see
     * {@link #agreed}.
     */
    void uploaded(FillClaim fillClaim, Page ownedPage) {
        published(fillClaim, ownedPage, null);
        if (sums.isFetched(fillClaim.key().version())) {
            index.remove(fillClaim.key(), EvictionCause.INVALIDATED);
        }
    }

    FillChecksums sums() {
        return sums;
    }

    /** Returns the checksums to compare a version's pages with; null if none are known. */
    FillChecksums.@Nullable Sums sums(ObjectVersion version, PageSource source) {
        WholeChecksum whole = version.sizeBytes() == 0 ? null : source.checksum(version);
        return whole == null ? null : sums.of(version, whole);
    }

    private boolean mayKeep(FillClaim fillClaim) {
        return !closed
                && writes.isCurrent(fillClaim.key().version().object(), fillClaim.generation());
    }

    void failed(FillClaim fillClaim, @Nullable Page ownedPage, FillException cause) {
        inFlight.remove(fillClaim.key(), fillClaim);
        if (ownedPage != null) {
            ownedPage.condemn();
        }
        fillClaim.settle(new FillClaim.Failed(cause));
    }

    /** Visits the objects of the pages in flight. */
    void forEachInFlight(Consumer<ObjectId> visitor) {
        inFlight.keySet().forEach(key -> visitor.accept(key.version().object()));
    }

    /** Stops caching: pages still in flight serve their waiters only. */
    void close() {
        closed = true;
    }
}
