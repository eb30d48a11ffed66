package io.railhead.cache;

import io.railhead.cache.memory.Page;
import java.time.Duration;
import java.util.AbstractSet;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The index of cache-only objects: objects that no store has. It is authoritative, so an object
 * that is not here does not exist. An object is here with all its pages or not at all: they come by
 * one put and go together. A key is written once, until it is deleted, evicted or expired.
 *
 * <p> Any thread; no call blocks or waits for memory, and lookups allocate nothing. The index knows
 * no rights: callers ask the policy first. Ids carry the tenant as their namespace.
 *
 * <p> A long class, since every way in and out changes the same index under these rules.
 *
 * <p> Lock order: {@link TenantPartitions}, then the index's lock of a key, then a
 * {@link CacheOnlyShare}. So nothing is evicted under a key's lock.
 */
public final class CacheOnlyObjects {
    /** The backend of ids of cache-only objects, a name that no store can have. */
    public static final String BACKEND = "!cache-only";

    /** S3's order of keys, that of their bytes in UTF-8. */
    public static final Comparator<String> KEY_ORDER = CacheOnlyNames.KEY_ORDER;

    /** The longest lease. */
    public static final Duration MAX_LEASE = Duration.ofMinutes(10);

    /** The longest comparison with a held object on the caller's thread. */
    private static final long COMPARED_AT_ONCE = 64 << 10;

    /** The most long comparisons that wait or run; a further put is refused. */
    private static final int MAX_COMPARISONS = 64;

    /**
     * The most times that one put is compared: the object it is held against may leave memory each
     * time.
     */
    private static final int MAX_TURNS = 3;

    private final Semaphore comparisons = new Semaphore(MAX_COMPARISONS);
    private final TenantPartitions partitions;
    private final EvictionCounts evictionCounts;
    private final LongSupplier nanoClock;
    private final long maxObjects;
    private final Executor comparing;
    private final ConcurrentMap<ObjectId, CacheOnlyObject> objects = new ConcurrentHashMap<>();
    private final CacheOnlyNames names = new CacheOnlyNames();
    private final Removals removals = new Removals();
    private final LongAdder pages = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private final LongAdder puts = new LongAdder();
    private final LongAdder found = new LongAdder();
    private final LongAdder absent = new LongAdder();
    private final LongAdder refused = new LongAdder();
    private final LongAdder evicted = new LongAdder();
    private final LongAdder expired = new LongAdder();
    private final LongAdder leased = new LongAdder();
    private final LongAdder leasesRefused = new LongAdder();
    /** Null without a disk. */
    private volatile @Nullable CacheOnlyMoves moves;

    /** The outcome of a wish to have an object in memory. */
    public enum Raised {
        /** The object is in memory, or there is none. */
        SETTLED,
        /** There is no room in memory now, or the disk has too much to do: the object stays. */
        NO_ROOM
    }

    /**
     * The counters since the start, and the objects now.
     *
     * @param bytes of memory, counted in slots
     * @param found lookups that found an object, {@code absent} those that did not
     * @param refused puts without room
     * @param evicted objects that made room, or that an operator evicted
     * @param leasedBytes of objects that are leased now, counted in slots
     * @param leased leases granted or renewed, {@code leasesRefused} those beyond the limit
     * @param onDisk objects whose bytes are on disk alone, which count in {@code objects}
     * @param leavingBytes of objects that the disk is taking, which count in no {@code bytes}
     * @param demoted objects that went to disk, {@code promoted} those that came back
     * @param lost objects that the disk did not have any more
     */
    public record Stats(long objects, long bytes, long puts, long found, long absent, long refused,
            long evicted, long expired, long leasedBytes, long leased, long leasesRefused,
            long onDisk, long leavingBytes, long demoted, long promoted, long lost) {}

    /**
     * @param nanoClock the cache's clock
     * @param maxObjects the most objects of all tenants
     * @param comparing compares long objects, off event loops
     */
    CacheOnlyObjects(TenantPartitions partitions, EvictionCounts evictionCounts,
            LongSupplier nanoClock, long maxObjects, Executor comparing) {
        this.partitions = partitions;
        this.evictionCounts = evictionCounts;
        this.nanoClock = nanoClock;
        this.maxObjects = maxObjects;
        this.comparing = comparing;
    }

    /**
     * Sets the disk for objects that may go there; before any is put.
     *
     * @param ending ends moves to the disk: nothing else may wait there
     */
    void below(CacheOnlyDisk tier, Executor ending) {
        moves = new CacheOnlyMoves(this, tier, partitions, ending);
    }

    /** Returns whether the id is one of a cache-only object, here or not. */
    public static boolean owns(ObjectId id) {
        return id.backend().equals(BACKEND);
    }

    /** Returns the subscribers to removals. */
    public Removals removals() {
        return removals;
    }

    /** Returns an object's metadata; null if there is no such object. Counts as a read of it. */
    public @Nullable ObjectMetadata find(ObjectId id) {
        CacheOnlyObject object = current(id);
        if (object == null) {
            absent.increment();
            return null;
        }
        found.increment();
        object.noteRead();
        return object.metadata();
    }

    /** Returns whether there is such an object; does not count as a read of it. */
    public boolean contains(ObjectId id) {
        boolean contained = current(id) != null;
        (contained ? found : absent).increment();
        return contained;
    }

    private @Nullable CacheOnlyObject current(ObjectId id) {
        CacheOnlyObject object = objects.get(id);
        if (object == null) {
            return null;
        }
        if (object.isExpiredAt(nanoClock.getAsLong())) {
            expire(object);
            return null;
        }
        return isHere(object) ? object : null;
    }

    private boolean isHere(CacheOnlyObject object) {
        CacheOnlyMoves between = moves;
        return between == null || between.isHere(object);
    }

    /** Returns whether an object is the one that has its key now. */
    boolean isCurrent(CacheOnlyObject object) {
        return objects.get(object.id()) == object;
    }

    /** Makes a move of an object under the lock of its key; false too if it is gone. */
    boolean tryMove(CacheOnlyObject object, BooleanSupplier move) {
        boolean[] moved = {false};
        objects.computeIfPresent(object.id(), (_, held) -> {
            moved[0] = held == object && move.getAsBoolean();
            return held;
        });
        return moved[0];
    }

    /** Returns whether there is a disk that objects may go to. */
    public boolean mayUseDisk() {
        return moves != null;
    }

    /** Returns whether an object's bytes are on disk alone. Costs no look at the disk. */
    public boolean isOnDisk(ObjectId id) {
        CacheOnlyObject object = objects.get(id);
        return object != null && object.isOnDisk();
    }

    /**
     * Brings an object from disk into memory, whole, if it is there, or on its way there. One whose
     * bytes the disk cannot give is gone then. The stage completes on a thread of the disk, which
     * bounds the wait, or at once; it never fails.
     */
    public CompletionStage<Raised> raise(ObjectId id) {
        CacheOnlyObject object = current(id);
        CacheOnlyMoves between = moves;
        return object == null || between == null
                ? CompletableFuture.completedStage(Raised.SETTLED)
                : between.raise(object);
    }

    /** Reserves room in its share for an object that comes back to memory. */
    boolean tryReserve(CacheOnlyObject object) {
        return partitions.tryReserve(object.partition(), object.slotBytes(), this,
                nanoClock.getAsLong());
    }

    /**
     * Returns whether an object must be brought into memory before it can be leased: see
     * {@link #raise}. False if its tenant has leased too much already.
     */
    public boolean mustRaiseToLease(ObjectId id) {
        CacheOnlyObject object = objects.get(id);
        return object != null && !object.isInShare()
                && object.partition()
                        .cacheOnly()
                        .hasRoomForLease(object, nanoClock.getAsLong(),
                                leaseLimit(object.partition()));
    }

    /**
     * Keeps an object from being evicted for room for so long: a lease that ends by itself. It does
     * not outlive the object's own end, a deletion, or an operator's eviction. A shorter lease
     * leaves a longer one as it is.
     *
     * <p> A tenant may lease a part of its room alone: {@link TenantPartitions#leasableBytes}. The
     * part shrinks as others take room; no lease is renewed beyond it, so leases end.
     *
     * @param time at most {@link #MAX_LEASE}
     * @return false if there is no such object, or if its tenant has leased too much
     */
    public boolean tryLease(ObjectId id, Duration time) {
        if (time.compareTo(MAX_LEASE) > 0) {
            throw new IllegalArgumentException("time must be <= " + MAX_LEASE + ": " + time);
        }
        CacheOnlyObject object = current(id);
        if (object == null) {
            return false;
        }
        long now = nanoClock.getAsLong();
        boolean leased = object.partition()
                .cacheOnly()
                .tryLease(object, now,
                        now + time.toNanos(), leaseLimit(object.partition()));
        (leased ? this.leased : leasesRefused).increment();
        return leased;
    }

    private CacheOnlyShare.LeaseLimit leaseLimit(TenantPartition partition) {
        return new CacheOnlyShare.LeaseLimit(
                partitions.leasableBytes(partition),
                maxObjects / TenantPartitions.LEASED_PART / partitions.owners());
    }

    /** Removes an object; false if there is none. A reader that has its pages reads on. */
    public boolean delete(ObjectId id) {
        return deleteIf(id, _ -> true);
    }

    /** Removes an object if it is as the condition demands; false if there is no such object. */
    public boolean deleteIf(ObjectId id, Predicate<ObjectMetadata> condition) {
        CacheOnlyObject object = current(id);
        return object != null && condition.test(object.metadata())
                && remove(object, EvictionCause.INVALIDATED, Removal.Reason.DELETED);
    }

    /** Removes all such objects. Looks at each object, so not for event loops. */
    public void deleteAll(Predicate<ObjectId> ids) {
        objects.forEach((id, object) -> {
            if (ids.test(id)) {
                remove(object, EvictionCause.INVALIDATED, Removal.Reason.DELETED);
            }
        });
    }

    /**
     * Visits the objects of a bucket, in S3's order, until the visitor returns false.
     *
     * @param namespace that of the objects' ids
     * @param from the first key to visit, or the next after it
     */
    public void visit(String namespace, String bucket, String from,
            Predicate<ObjectMetadata> visitor) {
        visitObjects(namespace, bucket, from, object -> visitor.test(object.metadata()));
    }

    private void visitObjects(String namespace, String bucket, String from,
            Predicate<CacheOnlyObject> visitor) {
        names.visit(namespace, bucket, from, nanoClock.getAsLong(),
                object -> !isHere(object) || visitor.test(object));
    }

    /**
     * Returns what a tenant's objects below a prefix take. Looks at each of them, so not for event
     * loops.
     *
     * @param keys those that count
     * @param goesOn asked after each object; false ends the count early
     */
    public Usage usage(String tenant, String namespace, String bucket, String prefix,
            Predicate<String> keys, BooleanSupplier goesOn) {
        TenantPartition partition = partitions.of(tenant);
        long now = nanoClock.getAsLong();
        long[] sums = new long[3];
        visitObjects(namespace, bucket, prefix, object -> {
            String key = object.id().key();
            boolean begins = key.startsWith(prefix);
            if (begins && keys.test(key)) {
                sums[0]++;
                sums[1] += object.isInShare() ? object.slotBytes() : 0;
                sums[2] += object.partition().cacheOnly().isLeased(object, now)
                        ? object.slotBytes()
                        : 0;
            }
            return begins && goesOn.getAsBoolean();
        });
        return new Usage(sums[0], sums[1], sums[2],
                Math.min(partition.quotaBytes(), partitions.capacityBytes()));
    }

    /**
     * The memory of some objects, counted in slots.
     *
     * @param limitBytes the most that all objects of the tenant may take: its quota, or else all
     *            memory for cached bytes, which it shares with others
     */
    public record Usage(long objects, long bytes, long leasedBytes, long limitBytes) {}

    /**
     * Puts an object unless its key is taken. The stage completes at once, or on a thread of the
     * cache or of the disk if many bytes must be compared.
     *
     * @param metadata with an ETag that no other put has
     * @param ownedUpload all bytes of the object
     */
    public CompletionStage<CacheOnlyPut> put(ObjectMetadata metadata, StagedUpload ownedUpload,
            CacheOnlyTerms terms) {
        if (!ownedUpload.isWhole()) {
            ownedUpload.close();
            refused.increment();
            return CompletableFuture.completedStage(new CacheOnlyPut.Full());
        }
        CompletionStage<CacheOnlyPut> end;
        try {
            end = putOrCompare(metadata, ownedUpload, terms);
        } catch (RuntimeException | Error e) {
            ownedUpload.close();
            throw e;
        }
        // Until then the bytes count as an upload's: the memory of waiting puts is bounded.
        return end.whenComplete((_, _) -> ownedUpload.close());
    }

    private CompletionStage<CacheOnlyPut> putOrCompare(ObjectMetadata metadata,
            StagedUpload upload, CacheOnlyTerms terms) {
        Duration life = terms.life();
        long now = nanoClock.getAsLong();
        CacheOnlyObject mine = new CacheOnlyObject(metadata, upload.takePublished(),
                partitions.of(upload.tenant()),
                life.isZero() ? now + Long.MAX_VALUE / 2 : now + life.toNanos(),
                upload.tenant(), terms.mayGoToDisk());
        return insertOrCompare(mine, 1);
    }

    private CompletionStage<CacheOnlyPut> insertOrCompare(CacheOnlyObject mine, int turn) {
        CacheOnlyObject held = current(mine.id());
        return held == null ? insert(mine, turn) : compare(mine, held, turn);
    }

    /** Counts a put that was refused before its bytes came. */
    public void noteRefused() {
        refused.increment();
    }

    private CompletionStage<CacheOnlyPut> insert(CacheOnlyObject mine, int turn) {
        // One tenant's many small objects must not refuse all others.
        if (objects.size() >= maxObjects
                && !tryEvictOne(partitions.withMostObjects())) {
            boolean _ = tryEvictOne(mine.partition());
        }
        if (objects.size() >= maxObjects || !tryReserve(mine)) {
            return full(mine);
        }
        CacheOnlyObject winner = objects.compute(mine.id(),
                (id, held) -> held == null ? inserted(mine) : held);
        if (winner == mine) {
            puts.increment();
            return CompletableFuture.completedStage(new CacheOnlyPut.Stored(mine.metadata()));
        }
        partitions.release(mine.partition(), mine.slotBytes());
        return compare(mine, winner, turn);
    }

    /** Makes an object visible, under the lock of its key. */
    private CacheOnlyObject inserted(CacheOnlyObject mine) {
        names.add(mine);
        join(mine);
        return mine;
    }

    /** Counts an object in the share of memory that was reserved for it. */
    void join(CacheOnlyObject object) {
        object.partition().cacheOnly().add(object);
        pages.add(object.pages().size());
        bytes.add(object.slotBytes());
    }

    private CompletionStage<CacheOnlyPut> compare(CacheOnlyObject mine, CacheOnlyObject held,
            int turn) {
        long size = mine.metadata().version().sizeBytes();
        if (size != held.metadata().version().sizeBytes()) {
            mine.condemn();
            return CompletableFuture.completedStage(new CacheOnlyPut.Other(held.metadata()));
        }
        if (turn > MAX_TURNS) {
            return full(mine);
        }
        if (held.isOnDisk()) {
            return raise(held.id()).thenCompose(raised -> raised == Raised.SETTLED
                    ? insertOrCompare(mine, turn + 1)
                    : full(mine));
        }
        if (size <= COMPARED_AT_ONCE) {
            return compared(mine, held, turn);
        }
        if (!comparisons.tryAcquire()) {
            return full(mine);
        }
        return CompletableFuture.supplyAsync(() -> compared(mine, held, turn), comparing)
                .whenComplete((_, _) -> comparisons.release())
                .thenCompose(end -> end);
    }

    private CompletionStage<CacheOnlyPut> full(CacheOnlyObject mine) {
        mine.condemn();
        refused.increment();
        return CompletableFuture.completedStage(new CacheOnlyPut.Full());
    }

    private CompletionStage<CacheOnlyPut> compared(CacheOnlyObject mine, CacheOnlyObject held,
            int turn) {
        CacheOnlyObject.Where theirs = held.where();
        boolean same = mine.hasBytesOf(theirs.pages());
        if (!same && (held.isOnDisk() || held.where() != theirs || current(held.id()) != held)) {
            // The held bytes went meanwhile, so they may have been the same.
            return insertOrCompare(mine, turn + 1);
        }
        mine.condemn();
        return CompletableFuture.completedStage(same
                ? new CacheOnlyPut.Same(held.metadata())
                : new CacheOnlyPut.Other(held.metadata()));
    }

    /**
     * Evicts the oldest objects of a partition for so many bytes, as far as they may go.
     *
     * @param freed gets the bytes evicted
     */
    void evictOldest(TenantPartition partition, long wanted, EvictionCause cause,
            TenantPartition.Freed freed) {
        for (CacheOnlyObject object : partition.cacheOnly()
                .takeOldest(wanted, nanoClock.getAsLong())) {
            freed.add(object.slotBytes(), evict(object, cause));
        }
    }

    /** Drops one object of a partition: one that is on disk first, whose bytes are needed less. */
    private boolean tryEvictOne(TenantPartition partition) {
        CacheOnlyObject onDisk = partition.onDisk().oldest();
        if (onDisk != null) {
            CacheOnlyObject.Where seen = onDisk.where();
            if (seen.place() == CacheOnlyObject.Place.DISK
                    && dropFrom(onDisk, seen, EvictionCause.PRESSURE)) {
                return true;
            }
        }
        List<CacheOnlyObject> oldest = partition.cacheOnly().takeOldestOne(nanoClock.getAsLong());
        oldest.forEach(object -> drop(object, EvictionCause.PRESSURE));
        return !oldest.isEmpty();
    }

    /**
     * Evicts an object to make room: to the disk, if its rule says so and the disk takes all of it.
     *
     * @param object which the caller took out of its share
     * @return whether it goes to the disk, so that its memory is free once it is written
     */
    boolean evict(CacheOnlyObject object, EvictionCause cause) {
        CacheOnlyMoves between = moves;
        if (between != null && object.mayGoToDisk()) {
            return between.evict(object, cause);
        }
        drop(object, cause);
        return false;
    }

    /** Drops an object unless it has moved; false if it has, or is gone. */
    boolean dropFrom(CacheOnlyObject object, CacheOnlyObject.Where seen, EvictionCause cause) {
        boolean dropped = removeFrom(object, seen, cause);
        if (dropped) {
            evicted.increment();
        }
        return dropped;
    }

    private void drop(CacheOnlyObject object, EvictionCause cause) {
        if (remove(object, cause, Removal.Reason.EVICTED)) {
            evicted.increment();
        }
    }

    /** Evicts the object with this id; the caller counts nothing. */
    void evict(ObjectId id, EvictionCause cause) {
        CacheOnlyObject object = objects.get(id);
        if (object != null) {
            drop(object, cause);
        }
    }

    /**
     * Evicts all objects of a tenant, wherever their bytes are; the caller counts nothing. Looks at
     * each object.
     */
    void evictAll(String tenant, EvictionCause cause) {
        for (CacheOnlyObject object : objects.values()) {
            if (object.tenant().equals(tenant)) {
                drop(object, cause);
            }
        }
    }

    private void expire(CacheOnlyObject object) {
        if (remove(object, EvictionCause.INVALIDATED, Removal.Reason.EXPIRED)) {
            expired.increment();
        }
    }

    /**
     * Ends leases whose time is over, and gives back the memory of objects that have expired. Looks
     * at each object.
     */
    void sweep() {
        long now = nanoClock.getAsLong();
        for (TenantPartition partition : partitions.all()) {
            partition.cacheOnly().endLeases(now);
        }
        for (CacheOnlyObject object : objects.values()) {
            if (object.isExpiredAt(now)) {
                expire(object);
            }
        }
        CacheOnlyMoves between = moves;
        if (between != null) {
            between.lookAtDisk();
        }
        partitions.follow();
    }

    /** Removes an object for room unless it has moved; false if it has, or is gone. */
    boolean removeFrom(CacheOnlyObject object, CacheOnlyObject.Where seen, EvictionCause cause) {
        boolean[] found = {false};
        objects.computeIfPresent(object.id(), (_, held) -> {
            found[0] = held == object && object.where() == seen;
            return found[0] ? null : held;
        });
        if (found[0]) {
            removed(object, cause, Removal.Reason.EVICTED);
        }
        return found[0];
    }

    private boolean remove(CacheOnlyObject object, EvictionCause cause, Removal.Reason reason) {
        boolean found = objects.remove(object.id(), object);
        if (found) {
            removed(object, cause, reason);
        }
        return found;
    }

    /** Ends an object that was taken out of the index. */
    private void removed(CacheOnlyObject object, EvictionCause cause, Removal.Reason reason) {
        names.remove(object);
        CacheOnlyObject.Place last = object.end().place();
        if (last == CacheOnlyObject.Place.MEMORY) {
            leaveShare(object, cause);
        }
        CacheOnlyMoves between = moves;
        if (between != null) {
            between.ended(object, last);
        }
        object.condemn();
        removals.tell(object.id(), reason);
    }

    void leaveShare(CacheOnlyObject object, EvictionCause cause) {
        boolean _ = object.partition().cacheOnly().remove(object);
        object.partition().announce(-object.slotBytes());
        pages.add(-object.pages().size());
        bytes.add(-object.slotBytes());
        object.pages().forEach(_ -> evictionCounts.count(cause));
    }

    /** Returns a page of an object that is here in this very version. */
    @Nullable
    Page page(PageKey key) {
        CacheOnlyObject object = objects.get(key.version().object());
        if (object == null || !object.metadata().version().equals(key.version())) {
            return null;
        }
        List<Page> held = object.pages();
        return key.index() < held.size() ? held.get((int) key.index()) : null;
    }

    /** Removes the whole object of a page, if it is here in this very version. */
    void remove(PageKey key, EvictionCause cause) {
        CacheOnlyObject object = objects.get(key.version().object());
        if (object != null && object.metadata().version().equals(key.version())) {
            drop(object, cause);
        }
    }

    /** Returns a live set of the keys of all pages. */
    Set<PageKey> pageKeys() {
        return new AbstractSet<>() {
            @Override
            public int size() {
                return Math.toIntExact(pages.sum());
            }

            @Override
            public Iterator<PageKey> iterator() {
                return keys().iterator();
            }

            @Override
            public Spliterator<PageKey> spliterator() {
                // Objects come and go meanwhile, so the size is no promise.
                return Spliterators.spliteratorUnknownSize(iterator(), Spliterator.DISTINCT);
            }
        };
    }

    private Stream<PageKey> keys() {
        return objects.values()
                .stream()
                .flatMap(object -> Stream.iterate(0, i -> i < object.pages().size(), i -> i + 1)
                        .map(i -> new PageKey(object.metadata().version(), i)));
    }

    Set<ObjectId> ids() {
        return objects.keySet();
    }

    /** Returns the number of pages. */
    long pageCount() {
        return pages.sum();
    }

    void clear() {
        List.copyOf(objects.values())
                .forEach(object -> remove(object, EvictionCause.INVALIDATED,
                        Removal.Reason.EVICTED));
    }

    public Stats stats() {
        CacheOnlyMoves between = moves;
        CacheOnlyMoves.Stats moved = between == null
                ? CacheOnlyMoves.Stats.NONE
                : between.stats();
        return new Stats(objects.size(), bytes.sum(), puts.sum(), found.sum(), absent.sum(),
                refused.sum(), evicted.sum(), expired.sum(), leasedBytes(), leased.sum(),
                leasesRefused.sum(), moved.onDisk(), moved.leavingBytes(), moved.demoted(),
                moved.promoted(), moved.lost());
    }

    private long leasedBytes() {
        return Arrays.stream(partitions.all()).mapToLong(this::leasedBytes).sum();
    }

    /** Returns the bytes of a partition's leased objects. */
    long leasedBytes(TenantPartition partition) {
        return partition.cacheOnly().leasedBytes(nanoClock.getAsLong());
    }
}
