package io.railhead.cache;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.railhead.cache.disk.DiskTier;
import io.railhead.cache.memory.MemoryStats;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageSlice;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The objects in page memory. Any thread; no call blocks.
 *
 * <p> A long class: the gateway's one interface to the cache, a few lines for each call.
 */
public final class ObjectCache implements AutoCloseable {
    /**
     * The version id of objects that were written while the bucket kept no versions: such a version
     * can be replaced.
     */
    private static final String NULL_VERSION = "null";
    /** The time in which a store that did not respond may still perform a write. */
    private static final Duration DOUBT = Duration.ofMinutes(1);
    /** The part of the cache's memory that unconfirmed uploads may take. */
    private static final int STAGED_PART = 4;
    /**
     * The most pages that are evicted at once: the caller may be an event loop, which may evict a
     * thousand objects.
     */
    private static final int REMOVED_AT_ONCE = 256;

    private static final CompletionStage<Boolean> HEARD = CompletableFuture.completedStage(true);

    private final PageMemory memory;
    private final CacheConfig config;
    private final Writes writes;
    private final Peers peers;
    private final StringPool texts = new StringPool();
    private final Set<String> namespaces = ConcurrentHashMap.newKeySet();
    private final AtomicLong stagedBytes = new AtomicLong();
    private final RisingRoom rising = new RisingRoom();
    private final Pins pins;
    private final PageIndex index;
    final FillTable table;
    private final Cache<ObjectId, ObjectMetadata> objects;
    /** Versions that other gateways have read here, some of which no metadata here knows. */
    private final Cache<ObjectId, ObjectVersion> readByPeers;
    private final ConcurrentMap<ObjectId, DiscoveryFlight> flights = new ConcurrentHashMap<>();
    private final ScheduledThreadPoolExecutor timer;
    private final ExecutorService sweeper;
    /** Frees what the disk has taken; long comparisons would keep that memory in use. */
    private final ExecutorService demotion;
    /** Removes versions from disk; one hash for each page, so memory has a sweeper of its own. */
    private final ExecutorService lowerSweeper;
    private final MemoryWait.Clock clock;
    private final CacheControl control;
    private final ReadAhead readAhead;
    private final Scrubber scrubber;
    private final @Nullable LowerTier lower;
    private volatile boolean keepsNothingNew;

    /**
     * A cache over {@code memory}, which the cache does not close.
     *
     * @param nanoClock monotonic, as {@link System#nanoTime}
     */
    public ObjectCache(PageMemory memory, CacheConfig config, LongSupplier nanoClock) {
        this(memory, config, nanoClock, DOUBT, null, Peers.NONE);
    }

    /**
     * A cache over memory and a lower tier, neither of which it closes.
     *
     * @param lower null for memory alone
     */
    public ObjectCache(PageMemory memory, CacheConfig config, LongSupplier nanoClock,
            @Nullable Lower lower) {
        this(memory, config, nanoClock, DOUBT, lower, Peers.NONE);
    }

    /**
     * A cache that is one with other gateways'.
     *
     * @param lower null for memory alone
     * @param peers the other gateways, whose changes come by {@link #heard}
     */
    public ObjectCache(PageMemory memory, CacheConfig config, LongSupplier nanoClock,
            @Nullable Lower lower, Peers peers) {
        this(memory, config, nanoClock, DOUBT, lower, peers);
    }

    /**
     * A disk tier below the memory.
     *
     * @param storeOf returns the identity of an object's store, which outlives restarts; null if
     *            the object is not kept on disk
     */
    public record Lower(DiskTier disk, Function<ObjectId, @Nullable String> storeOf) {}

    ObjectCache(PageMemory memory, CacheConfig config, LongSupplier nanoClock, Duration doubt) {
        this(memory, config, nanoClock, doubt, null, Peers.NONE);
    }

    private ObjectCache(PageMemory memory, CacheConfig config, LongSupplier nanoClock,
            Duration doubt, @Nullable Lower below, Peers peers) {
        this.peers = peers;
        this.memory = memory;
        this.config = config;
        this.timer = new ScheduledThreadPoolExecutor(1, thread("timer"));
        this.writes = new Writes(nanoClock, doubt, task -> {
            Future<?> _ = timer.schedule(task, doubt.toNanos(), TimeUnit.NANOSECONDS);
        }, id -> evictEverywhere(id, EvictionCause.INVALIDATED), peers);
        this.pins = new Pins(memory, config.pinRatio());
        this.lower = below == null
                ? null
                : new LowerTier(below.disk(), writes, below.storeOf(), memory.pageBytes());
        this.sweeper = oneThread("sweeper");
        this.demotion = oneThread("demotion");
        this.index = new PageIndex(memory, config, pins, lower, nanoClock, sweeper);
        if (below != null) {
            index.cacheOnly()
                    .below(new CacheOnlyDisk(below.disk(), memory.pageBytes(), this::tryRise),
                            demotion);
        }
        this.objects = Caffeine.newBuilder()
                .executor(Runnable::run)
                .maximumSize(config.metadataEntries())
                .build();
        this.readByPeers = Caffeine.newBuilder()
                .executor(Runnable::run)
                .maximumSize(config.metadataEntries())
                .build();
        this.table = new FillTable(memory, index, writes, config.runBytes(),
                this::heldAs, this::forget, lower);
        this.lowerSweeper = oneThread("lower-sweeper");
        timer.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
        Future<?> _ = timer.scheduleAtFixedRate(memory::tick, 1, 1, TimeUnit.SECONDS);
        Future<?> _ = timer.scheduleAtFixedRate(
                () -> sweeper.execute(index.cacheOnly()::sweep), 1, 1, TimeUnit.SECONDS);
        this.scrubber = Scrubber.every(index, config.verification(), timer);
        this.clock = new MemoryWait.Clock(nanoClock, timer, config.shortageWait().toNanos());
        this.control = new CacheControl(this, table, index, pins, lower,
                memory.pageBytes());
        this.readAhead = new ReadAhead(memory, index, table, config.readAhead());
    }

    private static ExecutorService oneThread(String name) {
        return new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(),
                thread(name), new ThreadPoolExecutor.DiscardPolicy());
    }

    private static ThreadFactory thread(String name) {
        return Thread.ofPlatform().daemon().name("railhead-cache-" + name).factory();
    }

    /** Returns the read-ahead of sequential readers. */
    public ReadAhead readAhead() {
        return readAhead;
    }

    /**
     * Stops caching new objects, and drops the least used quarter of the metadata and of the
     * versions that other gateways read; each further call drops another quarter. Cached objects
     * are still served.
     */
    public void stopKeeping() {
        keepsNothingNew = true;
        limit(objects, objects.estimatedSize() * 3 / 4);
        limit(readByPeers, readByPeers.estimatedSize() * 3 / 4);
    }

    public void resumeKeeping() {
        limit(objects, config.metadataEntries());
        limit(readByPeers, config.metadataEntries());
        keepsNothingNew = false;
    }

    private static void limit(Cache<?, ?> cache, long entries) {
        cache.policy().eviction().ifPresent(policy -> policy.setMaximum(entries));
    }

    /** Returns whether new objects may be cached. */
    public boolean keepsNew() {
        return !keepsNothingNew;
    }

    /** Returns the operators' control of the cache. */
    public CacheControl control() {
        return control;
    }

    /** Returns the keys of cached pages that a selection covers. */
    List<PageKey> keys(Selection selection) {
        return index.covered(selection);
    }

    /** Visits the objects whose metadata is cached or being discovered. */
    void forEachKnown(Consumer<ObjectId> visitor) {
        objects.asMap().keySet().forEach(visitor);
        flights.keySet().forEach(visitor);
        cacheOnly().ids().forEach(visitor);
    }

    public @Nullable ObjectMetadata find(ObjectId id) {
        return CacheOnlyObjects.owns(id) ? cacheOnly().find(id) : objects.getIfPresent(id);
    }

    /** Returns the objects that no store has. */
    public CacheOnlyObjects cacheOnly() {
        return index.cacheOnly();
    }

    /** Returns the cached instance of a version, so that pages share it. */
    private ObjectVersion heldAs(ObjectVersion version) {
        if (CacheOnlyObjects.owns(version.object())) {
            return version;
        }
        ObjectMetadata held = objects.policy().getIfPresentQuietly(version.object());
        return held != null && held.version().equals(version) ? held.version() : version;
    }

    /**
     * Evicts a version whose bytes are wrong. Fills under way may finish, but their pages are not
     * cached.
     */
    private void forget(ObjectVersion version) {
        writes.raise(version.object());
        index.removeAll(version, EvictionCause.CORRUPT);
        if (lower != null) {
            lower.forget(version);
            // After a restart, too: nobody knows then that these bytes were refuted.
            lowerSweeper.execute(() -> lower.evictRefuted(version.object()));
        }
    }

    /**
     * Returns whether some version of an object that memory does not know may be on disk: then the
     * store should be asked for the version before it is asked for bytes.
     */
    public boolean mayBeBelow(ObjectId id) {
        return lower != null && lower.mayHold(id);
    }

    /** Returns the writes through this gateway. */
    public Writes writes() {
        return writes;
    }

    /**
     * Indexes metadata from the backend. Cached pages stay if ETag, size and version id are
     * unchanged; otherwise they are condemned.
     *
     * @return false if a write, or a later request's response, has overtaken it: the caller may
     *         serve it but it is not cached
     */
    public boolean learn(ObjectMetadata metadata) {
        return keep(shared(metadata));
    }

    /**
     * Indexes metadata as {@link #learn} does.
     *
     * @return completes when no gateway of this cache serves the version that it replaced, if any;
     *         never fails
     */
    public CompletionStage<Void> learnForAll(ObjectMetadata metadata) {
        ObjectMetadata shared = shared(metadata);
        ObjectId id = shared.version().object();
        ObjectMetadata held = objects.policy().getIfPresentQuietly(id);
        boolean isNews = held != null && !held.version().equals(shared.version());
        return keep(shared, !isNews) && isNews ? tellOf(id) : Peers.NOBODY;
    }

    private CompletionStage<Void> tellOf(ObjectId id) {
        return peers.tell(Change.OfKey.of(id, WriteOutcome.DONE));
    }

    /** Returns the same metadata with shared strings, as it will be cached. */
    ObjectMetadata shared(ObjectMetadata metadata) {
        return texts.share(metadata,
                objects.policy().getIfPresentQuietly(metadata.version().object()));
    }

    /** Indexes metadata that is {@link #shared} already; see {@link #learn}. */
    boolean keep(ObjectMetadata metadata) {
        return keep(metadata, true);
    }

    /** @param tells whether the other gateways are told if it replaces another version */
    private boolean keep(ObjectMetadata metadata, boolean tells) {
        ObjectId id = metadata.version().object();
        if (CacheOnlyObjects.owns(id)) {
            return false;
        }
        namespaces.add(id.namespace());
        if (!writes.isCurrent(id, metadata.generation())) {
            return false;
        }
        boolean[] overtaken = {false};
        ObjectMetadata[] replaced = new ObjectMetadata[1];
        objects.asMap().compute(id, (key, held) -> {
            overtaken[0] = held != null && held.learntAtNanos() - metadata.learntAtNanos() > 0;
            replaced[0] = held;
            return overtaken[0] ? held : metadata;
        });
        if (overtaken[0]) {
            return false;
        }
        if (replaced[0] != null && !replaced[0].version().equals(metadata.version())) {
            removeAll(replaced[0].version(), EvictionCause.INVALIDATED);
            if (tells) {
                // Somebody wrote past the gateways; the others may have the earlier version, too.
                tellOf(id);
            }
        }
        if (writes.isCurrent(id, metadata.generation())) {
            return true;
        }
        // A write began meanwhile, and may have evicted before this entry was there.
        evict(id, EvictionCause.INVALIDATED);
        return false;
    }

    /**
     * Evicts one object's metadata and pages, since the store has something else. Leases stay
     * valid. A cache-only object stays: no store's answer refutes it.
     *
     * @return completes when no gateway of this cache serves it; never fails
     */
    public CompletionStage<Void> evict(ObjectId id) {
        return !CacheOnlyObjects.owns(id) && evict(id, EvictionCause.INVALIDATED)
                ? tellOf(id)
                : Peers.NOBODY;
    }

    /** Returns whether the object was known, and others may know it too. */
    private boolean evict(ObjectId id, EvictionCause cause) {
        if (CacheOnlyObjects.owns(id)) {
            cacheOnly().evict(id, cause);
            return false;
        }
        ObjectMetadata held = objects.asMap().remove(id);
        if (held != null) {
            removeAll(held.version(), cause);
        }
        ObjectVersion read = readByPeers.asMap().remove(id);
        if (read != null && (held == null || !read.equals(held.version()))) {
            removeAll(read, cause);
        }
        return held != null;
    }

    /**
     * Evicts the pages of a version that no metadata refers to any more. Only its memory is still
     * needed, so a large version is evicted in the background.
     */
    private void removeAll(ObjectVersion version, EvictionCause cause) {
        if (index.pagesOf(version) <= REMOVED_AT_ONCE) {
            index.removeAll(version, cause);
            forgetBelow(version);
        } else {
            sweeper.execute(() -> {
                index.removeAll(version, cause);
                forgetBelow(version);
            });
        }
    }

    /** Drops a version from disk once memory has none of it, on a thread of its own. */
    private void forgetBelow(ObjectVersion version) {
        if (lower != null) {
            lowerSweeper.execute(() -> lower.forget(version));
        }
    }

    /** Evicts an object here, and drops discoveries of it under way. */
    void invalidateHere(ObjectId id, EvictionCause cause) {
        writes.raise(id);
        evictEverywhere(id, cause);
    }

    /**
     * Evicts an object and drops discoveries of it under way: an event reported a write, or an
     * operator evicts it.
     *
     * @return completes when no gateway of this cache serves what was before; never fails
     */
    public CompletionStage<Void> invalidate(ObjectId id, EvictionCause cause) {
        invalidateHere(id, cause);
        return tellOf(id);
    }

    /** Tells the other gateways of this cache what an operator has evicted here. */
    CompletionStage<Boolean> tell(Selection evicted) {
        return peers.tellAll(new Change.Eviction(evicted));
    }

    void evicting(Selection names) {
        peers.evicting(names);
    }

    /**
     * Applies a change that another gateway of this cache has told. An eviction, which visits all
     * cached pages, is done on a thread of its own.
     *
     * @return completes with whether it is applied, on disks too
     */
    public CompletionStage<Boolean> heard(Change change) {
        switch (change) {
            case Change.OfKey key -> writes.heard(key);
            case Change.OfBucket bucket -> writes.heard(bucket);
            case Change.Eviction(Selection selection) -> {
                return CompletableFuture
                        .supplyAsync(() -> control.evictAsTold(selection),
                                task -> Thread.ofVirtual().start(task))
                        .thenCompose(Function.identity());
            }
        }
        return HEARD;
    }

    /**
     * Evicts objects by name from the lower tier, whatever versions of them it has. Memory has
     * given them up already.
     *
     * @return the disks on which the eviction is not recorded, so that a restart could undo it
     */
    CompletableFuture<List<String>> evictBelow(Selection selection) {
        return lower == null
                ? CompletableFuture.completedFuture(List.of())
                : lower.evict(selection);
    }

    boolean canErase() {
        return lower != null && lower.canErase();
    }

    /** Erases all that a tenant has in the lower tier. */
    CompletableFuture<List<String>> eraseBelow(String tenant) {
        return lower == null
                ? CompletableFuture.completedFuture(List.of())
                : lower.erase(tenant);
    }

    /** Evicts an object under every account: the store may show one object to several. */
    private void evictEverywhere(ObjectId id, EvictionCause cause) {
        evictWritten(id, cause);
        for (String namespace : namespaces) {
            if (!namespace.equals(id.namespace())) {
                evictWritten(id.in(namespace), cause);
            }
        }
    }

    /**
     * Evicts the written key's versions. A write of a key changes the current version; a write of a
     * version may change which one is current.
     */
    private void evictWritten(ObjectId id, EvictionCause cause) {
        ObjectId current = id.current();
        evict(id, cause);
        evict(current, cause);
        evict(new ObjectId(current.backend(), current.namespace(), current.bucket(), current.key(),
                NULL_VERSION), cause);
    }

    /** Returns the most bytes of all uploads together; a longer one never finds room. */
    public long mostStagedBytes() {
        MemoryStats stats = memory.stats();
        return (stats.capacityBytes() - stats.reserveBytes()) / STAGED_PART;
    }

    /**
     * Returns memory for a copy of an upload's bytes; null if there is none.
     *
     * @param tenant the owner of the pages
     */
    public @Nullable StagedUpload tryStage(long sizeBytes, String tenant) {
        if (stagedBytes.addAndGet(sizeBytes) > mostStagedBytes()) {
            stagedBytes.addAndGet(-sizeBytes);
            return null;
        }
        return new StagedUpload(table, sizeBytes, tenant,
                () -> stagedBytes.addAndGet(-sizeBytes));
    }

    /** Returns memory for a cache-only object that comes from disk; null if there is none. */
    private @Nullable StagedUpload tryRise(long sizeBytes, String tenant) {
        return rising.tryTake(tenant, sizeBytes, mostStagedBytes())
                ? new StagedUpload(table, sizeBytes, tenant,
                        () -> rising.giveBack(tenant, sizeBytes))
                : null;
    }

    /**
     * Caches uploaded bytes under the version that the store has confirmed; without effect if a
     * write has overtaken it.
     *
     * @param confirmed metadata that is indexed already
     */
    public boolean keep(ObjectMetadata confirmed, StagedUpload ownedUpload) {
        try (ownedUpload) {
            boolean kept = ownedUpload.isWhole()
                    && writes.isCurrent(confirmed.version().object(), confirmed.generation());
            if (kept) {
                ownedUpload.publish(confirmed.version());
            }
            return kept;
        }
    }

    /**
     * Joins the id's discovery flight, or starts one from {@code source}. The stage completes when
     * the flight knows its metadata or has failed, on the source's thread.
     *
     * @param tenant the tenant that pages are fetched for
     */
    public CompletionStage<Discovery> discover(ObjectId id, String tenant,
            DiscoverySource source) {
        // A flight removes itself by identity, so a later flight of the same key stays.
        DiscoveryFlight[] self = new DiscoveryFlight[1];
        DiscoveryFlight mine = new DiscoveryFlight(table, this, tenant,
                () -> flights.remove(id, self[0]));
        self[0] = mine;
        DiscoveryFlight other = flights.putIfAbsent(id, mine);
        if (other != null) {
            return other.joiner();
        }
        try {
            source.send(mine);
        } catch (RuntimeException | Error e) {
            mine.failedIfUnanswered();
            throw e;
        }
        return mine.owner();
    }

    /**
     * Leases bytes {@code [from, to)} of a version if all their pages are cached. This is the hit
     * path: it allocates only the leases and slices.
     *
     * @param slices filled from its start; the caller owns them
     * @return the number of slices; -1, with none leased, if a page is missing or the array is too
     *         short
     */
    public int tryLease(ObjectVersion version, long from, long to, @Nullable PageSlice[] slices) {
        int count = index.tryLease(version, from, to, slices);
        table.hits.add(Math.max(0, count));
        return count;
    }

    /**
     * Returns whether all pages of bytes {@code [from, to)} are cached now: a hint, nothing is
     * leased.
     */
    public boolean holds(ObjectVersion version, long from, long to) {
        return index.holds(version, from, to);
    }

    /** Returns a reader that is not started yet. */
    public RangeReader read(ReadRequest request, PageSource source, Executor executor,
            RangeReader.Sink sink) {
        return new WindowReader(table, clock, config.windowBytes(), request, source, executor,
                sink);
    }

    /**
     * Returns a reader for another gateway, which has proved that the version is current and may be
     * read. A later change of the object evicts its pages here, though no metadata here may know
     * them.
     */
    public RangeReader readForPeer(ReadRequest request, PageSource source, Executor executor,
            RangeReader.Sink sink) {
        ObjectVersion version = request.version();
        namespaces.add(version.object().namespace());
        ObjectVersion before = readByPeers.asMap().put(version.object(), version);
        if (before != null && !before.equals(version)) {
            ObjectMetadata known = objects.policy().getIfPresentQuietly(version.object());
            if (known == null || !known.version().equals(before)) {
                removeAll(before, EvictionCause.INVALIDATED);
            }
        }
        return read(request, source, executor, sink);
    }

    /**
     * Returns memory of the reserve for a fabric to place an upload's bytes in, at most one page.
     * Null if the reserve is full: then decline.
     */
    public @Nullable PageSlice land(long objectOffset, int length) {
        return memory.tryLand(objectOffset, length);
    }

    /** Returns the length of the longest slice that {@link #land} gives and readers hand over. */
    public int pageBytes() {
        return memory.pageBytes();
    }

    public CacheStats stats() {
        return new CacheStats(table.hits.sum(), table.misses.sum(), table.joins.sum(),
                table.runs.sum(), table.filledBytes.sum(), table.failures.sum(),
                index.evictedPages(), table.shortages.sum(), objects.estimatedSize(),
                index.size(), stagedBytes.get(), pins.bytes(), pins.limitBytes(),
                readAhead.bytes(), table.sums().matches.sum(), table.sums().mismatches.sum());
    }

    /** Returns the counters of verified and corrupt pages. */
    public Verification.Counts verified() {
        return index.verified();
    }

    /** Returns the current use of the tenants that have a rule. */
    public List<TenantQuota.Use> tenants() {
        return index.uses();
    }

    /** Condemns every page; {@link PageMemory} frees the memory itself. */
    @Override
    public void close() {
        table.close();
        if (lower != null) {
            lower.save(index);
        }
        timer.shutdownNow();
        sweeper.shutdownNow();
        demotion.shutdownNow();
        lowerSweeper.shutdownNow();
        scrubber.close();
        objects.invalidateAll();
        readByPeers.invalidateAll();
        index.clear();
    }
}
