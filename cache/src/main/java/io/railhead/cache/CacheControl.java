package io.railhead.cache;

import io.railhead.cache.disk.Kept;
import io.railhead.cache.memory.Page;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An operator's control of the cache: evict objects, or pin them. Any thread; each call visits all
 * cached pages, so it must not run on an event loop.
 */
public final class CacheControl {
    private static final Logger LOG = LoggerFactory.getLogger(CacheControl.class);
    /** Bounded, since every filled page is compared with every pin. */
    private static final int MAX_PINS = 1000;

    private final ObjectCache cache;
    private final FillTable table;
    private final PageIndex index;
    private final Pins pins;
    private final @Nullable LowerTier lower;
    private final int pageBytes;

    /** @param lower null for memory alone */
    CacheControl(ObjectCache cache, FillTable table, PageIndex index, Pins pins,
            @Nullable LowerTier lower, int pageBytes) {
        this.cache = cache;
        this.table = table;
        this.index = index;
        this.pins = pins;
        this.lower = lower;
        this.pageBytes = pageBytes;
    }

    /**
     * The cached objects of a selection.
     *
     * @param bytes of memory, counted in slots
     */
    public record Held(long objects, long bytes) {}

    /** One pin, and the pages that it keeps now. */
    public record Pinned(Selection selection, Held held) {}

    /**
     * Evicts all objects that the selection covers, pinned or not, and drops discoveries of them
     * under way. Leases stay valid. Later reads fetch again, and pin again if a pin covers the
     * object.
     *
     * @return the evicted objects and bytes
     */
    public Held evict(Selection selection) {
        // First of all: another gateway's copies must not come back.
        cache.evicting(selection);
        List<PageKey> keys = index.covered(selection);
        Set<ObjectId> objects = new HashSet<>();
        keys.forEach(key -> objects.add(key.version().object()));
        long bytes = keys.stream().mapToLong(key -> bytesOf(index.peek(key))).sum();
        Set<ObjectId> learning = new HashSet<>(objects);
        cache.forEachKnown(id -> addCovered(selection, id, learning));
        learning.stream().filter(id -> cache.find(id) != null).forEach(objects::add);
        table.forEachInFlight(id -> addCovered(selection, id, learning));
        // Fills under way are first kept from being cached; only then are cached pages evicted.
        learning.forEach(id -> cache.invalidateHere(id, EvictionCause.ADMIN));
        index.covered(selection).forEach(key -> index.remove(key, EvictionCause.ADMIN));
        return new Held(objects.size(), bytes);
    }

    /**
     * Tells the other gateways of this cache to evict the selection, from their disks too.
     *
     * @return completes with whether all of them have done so; never fails
     */
    public CompletionStage<Boolean> tell(Selection selection) {
        return cache.tell(selection);
    }

    /**
     * Evicts what another gateway's operator has evicted there, from memory and from disks.
     *
     * @return completes with whether each disk has recorded it
     */
    CompletionStage<Boolean> evictAsTold(Selection selection) {
        // Twice: between the two a page may have come from disk into memory, or gone the other way.
        Held _ = evict(selection);
        CompletableFuture<List<String>> first = evictBelow(selection);
        Held _ = evict(selection);
        CompletableFuture<List<String>> second = evictBelow(selection);
        // A page that was late on disk may have come into memory before it was evicted there.
        Held _ = evict(selection);
        return first.thenCombine(second, (one, other) -> {
            if (!one.isEmpty() || !other.isEmpty()) {
                LOG.warn("what another gateway has evicted may come back by a restart, since it is"
                        + " not recorded on {}", String.join(", ", one.isEmpty() ? other : one));
            }
            return one.isEmpty() && other.isEmpty();
        });
    }

    /** Returns whether disks hold what a tenant has under a key that can be erased. */
    public boolean canErase() {
        return cache.canErase();
    }

    /**
     * Evicts the pages that were fetched for a tenant from memory, and its cache-only objects
     * wherever they are. Fills under way are kept from being cached, whosever they are: the table
     * does not tell.
     */
    public Held evictTenant(String tenant) {
        Set<ObjectId> filling = new HashSet<>();
        table.forEachInFlight(filling::add);
        filling.forEach(id -> cache.invalidateHere(id, EvictionCause.ADMIN));
        Set<ObjectId> objects = new HashSet<>();
        long bytes = 0;
        for (Set<PageKey> keys : index.keys()) {
            for (PageKey key : keys) {
                Page page = index.peek(key);
                if (page != null && page.tenant().equals(tenant)) {
                    objects.add(key.version().object());
                    bytes += page.slotBytes();
                    index.remove(key, EvictionCause.ADMIN);
                }
            }
        }
        // Those on disk have no page in memory.
        index.cacheOnly().evictAll(tenant, EvictionCause.ADMIN);
        return new Held(objects.size(), bytes);
    }

    /**
     * Erases all that a tenant has on the disks. Memory must have given it up already.
     *
     * @return the disks on which it is not erased
     */
    public CompletableFuture<List<String>> eraseBelow(String tenant) {
        return cache.eraseBelow(tenant);
    }

    /**
     * Evicts the selection from the disks, whatever versions of it they have. Memory must have
     * given them up already. From its return on nobody finds them there.
     *
     * @return the disks on which the eviction is not recorded, so that a restart could undo it
     */
    public CompletableFuture<List<String>> evictBelow(Selection selection) {
        return cache.evictBelow(selection);
    }

    private static void addCovered(Selection selection, ObjectId id, Set<ObjectId> into) {
        if (selection.covers(id)) {
            into.add(id);
        }
    }

    private static long bytesOf(@Nullable Page page) {
        return page == null ? 0 : page.slotBytes();
    }

    /**
     * Keeps the covered objects from being evicted: cached pages, and later ones until the limit is
     * reached. A write or an event still evicts them.
     *
     * @return false, with nothing changed, if the limit does not allow the pages cached already, or
     *         if there are too many pins
     */
    public synchronized boolean tryPin(Selection selection) {
        if (pins.selections().contains(selection)) {
            return true;
        }
        if (pins.selections().size() == MAX_PINS) {
            return false;
        }
        pins.add(selection);
        if (index.settle(selection)) {
            return true;
        }
        unpin(selection);
        return false;
    }

    /**
     * Removes a pin. Its pages may be evicted unless another pin covers them.
     *
     * @return false if there is no such pin
     */
    public synchronized boolean unpin(Selection selection) {
        boolean removed = pins.remove(selection);
        index.settle(selection);
        return removed;
    }

    /** Returns every pin in order of creation; several may cover the same object. */
    public List<Pinned> pins() {
        Map<ObjectId, Long> pinned = index.pinnedBytes();
        List<Pinned> all = new ArrayList<>();
        for (Selection selection : pins.selections()) {
            List<Long> covered = pinned.entrySet()
                    .stream()
                    .filter(entry -> selection.covers(entry.getKey()))
                    .map(Map.Entry::getValue)
                    .toList();
            all.add(new Pinned(selection,
                    new Held(covered.size(), covered.stream().mapToLong(Long::longValue).sum())));
        }
        return all;
    }

    /**
     * Returns the most bytes that pinned pages may take; grows while memory is being mapped at the
     * start.
     */
    public long pinLimitBytes() {
        return pins.limitBytes();
    }

    /** Returns the bytes that pinned pages take. */
    public long pinnedBytes() {
        return pins.bytes();
    }

    /** Returns how many bytes may be held at most, pinned pages aside. */
    public long capacityBytes() {
        return index.capacityBytes();
    }

    /** Returns how many bytes more evict nothing, pinned pages aside. */
    public long roomBytes() {
        return index.roomBytes();
    }

    /**
     * Returns whether so many more bytes of an object fit without evicting other unpinned pages.
     */
    public boolean hasRoomFor(ObjectId id, long bytes) {
        return (pins.covers(id) && pins.bytes() + bytes <= pins.limitBytes())
                || bytes <= index.roomBytes();
    }

    /** Returns whether there is a lower tier. */
    public boolean hasDisks() {
        return lower != null;
    }

    /** Returns the most bytes that the disks hold for a tenant; 0 without disks. */
    public long bytesBelow(String tenant) {
        return lower == null ? 0 : lower.shareBytes(tenant);
    }

    /** Returns whether the disks have all pages of a part, as a hint. */
    public boolean holdsBelow(ObjectVersion version, long from, long to) {
        return lower != null
                && lower.holds(version, from / pageBytes, Math.ceilDiv(to, pageBytes));
    }

    /**
     * The progress of a part to the disks.
     *
     * @param to the end of the pages that the disks have or will write
     * @param kept {@link Kept#YES} at the part's end, else the reason why it goes no further
     */
    public record KeptTo(long to, Kept kept) {}

    /**
     * Puts cached pages of a part on disk, whose oldest pages may go for them. To be called again
     * for the rest: a page that waits to be written is found neither in memory nor on disk.
     *
     * @param giveUp whether memory gives up each page that the disk has taken, unless it is pinned
     */
    public KeptTo keepBelow(ObjectVersion version, long from, long to, boolean giveUp) {
        LowerTier tier = lower;
        if (tier == null) {
            return new KeptTo(from, Kept.NEVER);
        }
        Kept kept = Kept.YES;
        long page = from / pageBytes;
        long end = Math.ceilDiv(to, pageBytes);
        while (page < end && kept == Kept.YES) {
            kept = index.keepBelow(new PageKey(version, page), tier, giveUp);
            page += kept == Kept.YES ? 1 : 0;
        }
        return new KeptTo(Math.min(to, page * pageBytes), kept);
    }
}
