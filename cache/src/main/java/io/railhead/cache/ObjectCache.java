package io.railhead.cache;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.railhead.cache.memory.MemoryStats;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageSlice;
import java.time.Duration;
import java.util.List;
import java.util.Set;
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
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The objects held in page memory. Any thread; no call blocks.
 *
 * <p> A long class: all that the gateway asks of the cache, a few lines each.
 */
public final class ObjectCache implements AutoCloseable {
    /** The version id of what was written while a bucket kept no versions: it can be replaced. */
    private static final String NULL_VERSION = "null";
    /** How long a store that did not answer may still carry out what it was asked. */
    private static final Duration DOUBT = Duration.ofMinutes(1);
    /** Uploads that are not confirmed yet may take this part of the cache's memory. */
    private static final int STAGED_PART = 4;
    /** Whoever forgets an object may be an event loop, and forget a thousand. */
    private static final int REMOVED_AT_ONCE = 256;

    private final PageMemory memory;
    private final CacheConfig config;
    private final WriteEpochs writeEpochs = new WriteEpochs();
    private final BucketWrites bucketWrites;
    private final StringPool texts = new StringPool();
    private final Set<String> namespaces = ConcurrentHashMap.newKeySet();
    private final AtomicLong stagedBytes = new AtomicLong();
    private final Duration doubt;
    private final Pins pins;
    private final PageIndex index;
    final FillTable table;
    private final Cache<ObjectId, ObjectMetadata> objects;
    private final ConcurrentMap<ObjectId, DiscoveryFlight> flights = new ConcurrentHashMap<>();
    private final ScheduledThreadPoolExecutor timer;
    private final ExecutorService sweeper;
    private final MemoryWait.Clock clock;
    private final CacheControl control;
    private final ReadAhead readAhead;
    private final Scrubber scrubber;
    private volatile boolean keepsNothingNew;

    /**
     * A cache over {@code memory}, which it does not close.
     *
     * @param nanoClock monotonic, as {@link System#nanoTime}
     */
    public ObjectCache(PageMemory memory, CacheConfig config, LongSupplier nanoClock) {
        this(memory, config, nanoClock, DOUBT);
    }

    ObjectCache(PageMemory memory, CacheConfig config, LongSupplier nanoClock, Duration doubt) {
        this.memory = memory;
        this.config = config;
        this.doubt = doubt;
        this.bucketWrites = new BucketWrites(nanoClock);
        this.pins = new Pins(memory, config.pinRatio());
        this.index = new PageIndex(memory, config, pins);
        this.objects = Caffeine.newBuilder()
                .executor(Runnable::run)
                .maximumSize(config.metadataEntries())
                .build();
        this.table = new FillTable(memory, index, writeEpochs, config.runBytes(),
                this::heldAs, this::forget);
        this.timer = new ScheduledThreadPoolExecutor(1, thread("timer"));
        this.sweeper = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(), thread("sweeper"),
                new ThreadPoolExecutor.DiscardPolicy());
        timer.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
        Future<?> _ = timer.scheduleAtFixedRate(memory::tick, 1, 1, TimeUnit.SECONDS);
        this.scrubber = Scrubber.every(index, config.verification(), timer);
        this.clock = new MemoryWait.Clock(nanoClock, timer, config.shortageWait().toNanos());
        this.control = new CacheControl(this, table, index, pins);
        this.readAhead = new ReadAhead(memory, index, table, config.readAhead());
    }

    private static ThreadFactory thread(String name) {
        return Thread.ofPlatform().daemon().name("railhead-cache-" + name).factory();
    }

    /** What is fetched before it is asked for. */
    public ReadAhead readAhead() {
        return readAhead;
    }

    /**
     * Stops keeping what is not known yet, and forgets a quarter of what is known of objects, what
     * was used least: called again, a quarter of the rest. What is held is served on.
     */
    public void stopKeeping() {
        keepsNothingNew = true;
        objects.policy()
                .eviction()
                .ifPresent(policy -> policy.setMaximum(objects.estimatedSize() * 3 / 4));
    }

    public void resumeKeeping() {
        objects.policy()
                .eviction()
                .ifPresent(policy -> policy.setMaximum(config.metadataEntries()));
        keepsNothingNew = false;
    }

    /** Whether what is not known yet may be kept. */
    public boolean keepsNew() {
        return !keepsNothingNew;
    }

    /** What operators do with what is held. */
    public CacheControl control() {
        return control;
    }

    /** The pages' keys, as the index keeps them. */
    List<PageKey> keys(Selection selection) {
        return index.covered(selection);
    }

    /** The objects that are known, or being learnt. */
    void forEachKnown(Consumer<ObjectId> visitor) {
        objects.asMap().keySet().forEach(visitor);
        flights.keySet().forEach(visitor);
    }

    public @Nullable ObjectMetadata find(ObjectId id) {
        return objects.getIfPresent(id);
    }

    /** The instance that is held already, so that pages share it. */
    private ObjectVersion heldAs(ObjectVersion version) {
        ObjectMetadata held = objects.policy().getIfPresentQuietly(version.object());
        return held != null && held.version().equals(version) ? held.version() : version;
    }

    /** Who asked for it while it came may finish, but keeps nothing of it. */
    private void forget(ObjectVersion version) {
        writeEpochs.bump(version.object());
        index.removeAll(version, EvictionCause.CORRUPT);
    }

    /** The key's generation now: taken when a request is sent, handed back with what it learnt. */
    public long generation(ObjectId id) {
        return writeEpochs.of(id);
    }

    /** Whether a write of this key is under way, or may be. */
    public boolean isBeingWritten(ObjectId id) {
        return writeEpochs.isBeingWritten(id);
    }

    /**
     * Whether no write through this gateway touches what is held, nor has since it was learnt:
     * otherwise it is served as {@code strong}. Makes nothing.
     */
    public boolean isSettled(ObjectMetadata held) {
        ObjectId id = held.version().object();
        return !isBeingWritten(id) && bucketWrites.holds(id, held.learntAtNanos());
    }

    /**
     * Whether no write through this gateway has touched the key or its bucket since, nor may yet:
     * what the store said then may no longer hold. Makes nothing.
     *
     * @param generation the key's at that moment
     */
    public boolean isUntouchedSince(ObjectId id, long atNanos, long generation) {
        return writeEpochs.holds(id, generation) && bucketWrites.holds(id, atNanos);
    }

    /**
     * Indexes what the backend said; pages stay if ETag, size and version id agree with what was
     * held, else they are condemned.
     *
     * @return false if a write, or an answer to a later request, has overtaken it: it may finish
     *         its own answer but is not kept
     */
    public boolean learn(ObjectMetadata metadata) {
        return keep(shared(metadata));
    }

    /** The same in less memory, as it will be held. */
    ObjectMetadata shared(ObjectMetadata metadata) {
        return texts.share(metadata,
                objects.policy().getIfPresentQuietly(metadata.version().object()));
    }

    /** {@link #learn} of what is {@link #shared} already. */
    boolean keep(ObjectMetadata metadata) {
        ObjectId id = metadata.version().object();
        namespaces.add(id.namespace());
        if (!writeEpochs.holds(id, metadata.generation())) {
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
        }
        if (writeEpochs.holds(id, metadata.generation())) {
            return true;
        }
        // A write began meanwhile, and may have looked before this was there.
        evict(id);
        return false;
    }

    /** Forgets one object: its metadata and its pages. Leases run on. */
    public void evict(ObjectId id) {
        evict(id, EvictionCause.INVALIDATED);
    }

    private void evict(ObjectId id, EvictionCause cause) {
        ObjectMetadata held = objects.asMap().remove(id);
        if (held != null) {
            removeAll(held.version(), cause);
        }
    }

    /**
     * Of a version that nobody is led to any more: when its memory comes back is all that waits.
     */
    private void removeAll(ObjectVersion version, EvictionCause cause) {
        if (index.pagesOf(version) <= REMOVED_AT_ONCE) {
            index.removeAll(version, cause);
        } else {
            sweeper.execute(() -> index.removeAll(version, cause));
        }
    }

    /**
     * A write is about to be forwarded: bumps the key's generation, and what is held is not settled
     * until it has ended. It is forgotten once the write may have happened.
     */
    public Write beginWrite(ObjectId id) {
        long begun = writeEpochs.begin(id);
        AtomicBoolean ended = new AtomicBoolean();
        return outcome -> {
            if (!ended.compareAndSet(false, true)) {
                throw new IllegalStateException("a write ends once");
            }
            return end(id, begun, outcome);
        };
    }

    private long end(ObjectId id, long begun, WriteOutcome outcome) {
        long now = writeEpochs.bump(id);
        switch (outcome) {
            case DONE -> {
                evictEverywhere(id, EvictionCause.INVALIDATED);
                writeEpochs.end(id);
            }
            case UNKNOWN -> {
                evictEverywhere(id, EvictionCause.INVALIDATED);
                // It may still happen, after whatever is asked now.
                Future<?> _ = timer.schedule(() -> {
                    writeEpochs.bump(id);
                    writeEpochs.end(id);
                }, doubt.toNanos(), TimeUnit.NANOSECONDS);
            }
            // Nothing changed, and nothing was kept while it was open.
            case REFUSED -> writeEpochs.end(id);
        }
        return outcome == WriteOutcome.DONE && now == begun + 1 && writeEpochs.holds(id, now)
                ? now
                : DISTURBED;
    }

    /**
     * Forgets whatever is held or being learnt of it: somebody else says that it was written, or an
     * operator wants it gone.
     */
    public void invalidate(ObjectId id, EvictionCause cause) {
        writeEpochs.bump(id);
        evictEverywhere(id, cause);
    }

    /**
     * A write of keys of the bucket has ended, nobody knows of which: all of it is asked for anew;
     * each time, while the write may still happen.
     */
    public void endBucketWrite(String backend, String bucket, WriteOutcome outcome) {
        switch (outcome) {
            case DONE -> bucketWrites.changed(backend, bucket, Duration.ZERO);
            case UNKNOWN -> bucketWrites.changed(backend, bucket, doubt);
            case REFUSED -> {
                // Nothing changed.
            }
        }
    }

    /** The store may show one object to several accounts. */
    private void evictEverywhere(ObjectId id, EvictionCause cause) {
        evictWritten(id, cause);
        for (String namespace : namespaces) {
            if (!namespace.equals(id.namespace())) {
                evictWritten(id.in(namespace), cause);
            }
        }
    }

    /** A write of a key changes the current version, one of a version may change which that is. */
    private void evictWritten(ObjectId id, EvictionCause cause) {
        ObjectId current = id.current();
        evict(id, cause);
        evict(current, cause);
        evict(new ObjectId(current.backend(), current.namespace(), current.bucket(), current.key(),
                NULL_VERSION), cause);
    }

    /** What {@link Write#end} returns where something else was written too. */
    public static final long DISTURBED = -1;

    /** An open write; exactly one call of {@link #end}. */
    @FunctionalInterface
    public interface Write {

        /**
         * Ends it.
         *
         * @return the key's generation now if it is done, and nobody else wrote the key, or a
         *         neighbour of it, since it began; {@link #DISTURBED} otherwise
         */
        long end(WriteOutcome outcome);
    }

    /**
     * Room for an upload's bytes beside the way to the store; null where there is none.
     *
     * @param tenant whose pages they will be
     */
    public @Nullable StagedUpload tryStage(long sizeBytes, String tenant) {
        MemoryStats stats = memory.stats();
        long most = (stats.capacityBytes() - stats.reserveBytes()) / STAGED_PART;
        if (stagedBytes.addAndGet(sizeBytes) > most) {
            stagedBytes.addAndGet(-sizeBytes);
            return null;
        }
        return new StagedUpload(table, sizeBytes, tenant,
                () -> stagedBytes.addAndGet(-sizeBytes));
    }

    /**
     * Publishes uploaded bytes under the version that the store has confirmed; without effect where
     * a write has overtaken it.
     *
     * @param confirmed indexed already
     */
    public boolean keep(ObjectMetadata confirmed, StagedUpload ownedUpload) {
        try (ownedUpload) {
            boolean kept = ownedUpload.isWhole()
                    && writeEpochs.holds(confirmed.version().object(), confirmed.generation());
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
     * @param tenant whom pages are fetched for
     */
    public CompletionStage<Discovery> discover(ObjectId id, String tenant,
            DiscoverySource source) {
        // A flight knows how to remove itself: by identity, so a later one stays.
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
     * Leases bytes {@code [from, to)} of a version if all their pages are held: the hit path, which
     * makes nothing but the leases and slices themselves.
     *
     * @param slices filled from its start; the caller owns them
     * @return how many slices, or -1 where a page is missing or there are more than the array
     *         takes: then none is leased
     */
    public int tryLease(ObjectVersion version, long from, long to, @Nullable PageSlice[] slices) {
        int count = index.tryLease(version, from, to, slices);
        table.hits.add(Math.max(0, count));
        return count;
    }

    /** Whether all pages of bytes {@code [from, to)} are held now: a hint, nothing is leased. */
    public boolean holds(ObjectVersion version, long from, long to) {
        return index.holds(version, from, to);
    }

    /** A reader that has not been started. */
    public RangeReader read(ReadRequest request, PageSource source, Executor executor,
            RangeReader.Sink sink) {
        return new WindowReader(table, clock, config.windowBytes(), request, source, executor,
                sink);
    }

    /**
     * Memory of the reserve for a fabric to place an upload's bytes in, at most one page; null
     * where the reserve is full: decline.
     */
    public @Nullable PageSlice land(long objectOffset, int length) {
        return memory.tryLand(objectOffset, length);
    }

    /** The longest slice that {@link #land} gives and that readers hand over. */
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

    /** What was looked at, and found to have changed in memory. */
    public Verification.Counts verified() {
        return index.verified();
    }

    /** What the tenants that have a rule have now. */
    public List<TenantQuota.Use> tenants() {
        return index.uses();
    }

    /** Condemns every page; memory itself belongs to {@link PageMemory}. */
    @Override
    public void close() {
        table.close();
        timer.shutdownNow();
        sweeper.shutdownNow();
        scrubber.close();
        objects.invalidateAll();
        index.clear();
    }
}
