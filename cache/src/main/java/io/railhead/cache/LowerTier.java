package io.railhead.cache;

import io.railhead.cache.FillException.Reason;
import io.railhead.cache.disk.DiskTier;
import io.railhead.cache.disk.EvictedNames;
import io.railhead.cache.disk.EvictedPage;
import io.railhead.cache.disk.Kept;
import io.railhead.cache.disk.PageTaker;
import io.railhead.cache.disk.VersionName;
import io.railhead.cache.memory.Lease;
import io.railhead.cache.memory.LentMemory;
import io.railhead.cache.memory.Page;
import io.railhead.cache.memory.PageSlice;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The disk tier as the cache sees it. Any thread; no call waits for a disk, except {@link #save}.
 *
 * <p> Down: a page that the policy gives up is leased before its owner condemns it. Up: a fill that
 * was claimed takes its bytes from disk, and those that the disk cannot give from the store, within
 * the same claim. So there is one fill of a page, wherever its bytes come from.
 *
 * <p> Versions never mix, since pages are found by their full version alone. Bytes of a version
 * that were refuted must not come back. A page remembers two epochs of its key, which are read
 * under its lock in memory while it is given up: that of writes, and that of removals. Whoever
 * refutes bytes removes them from memory, then raises the removals' epoch, and only then removes
 * them from disk. A page that was given up before the raise is not kept. One that was given up
 * later was put after the removal from memory, which takes the same lock.
 *
 * <p> Removals have their own epoch, since a raise of the writes' epoch would keep fills of the new
 * version out of memory.
 */
final class LowerTier {
    private static final Duration LONGEST_SAVE = Duration.ofSeconds(10);

    private final DiskTier disk;
    private final Writes writes;
    private final Function<ObjectId, @Nullable String> storeOf;
    private final int pageBytes;
    private final AtomicLongArray removals = new AtomicLongArray(Writes.KEY_STRIPES);

    /**
     * @param disk not closed here
     * @param storeOf returns the identity of an object's store; null if it is not kept on disk
     */
    LowerTier(DiskTier disk, Writes writes, Function<ObjectId, @Nullable String> storeOf,
            int pageBytes) {
        this.disk = disk;
        this.writes = writes;
        this.storeOf = storeOf;
        this.pageBytes = pageBytes;
    }

    private @Nullable VersionName name(ObjectVersion version) {
        ObjectId id = version.object();
        String store = storeOf.apply(id);
        String wanted = id.versionId();
        return store == null
                ? null
                : new VersionName(store, id.namespace(), id.bucket(), id.key(),
                        wanted == null ? "" : wanted, version.etag(), version.versionId(),
                        version.sizeBytes());
    }

    /** Returns whether some version of the object may be on disk: false is certain. */
    boolean mayHold(ObjectId id) {
        VersionName name = name(new ObjectVersion(id, "", "", 0));
        return name != null && disk.mayHold(name);
    }

    /**
     * Offers a page that the policy gives up, and that is not condemned yet. The caller holds the
     * key's lock, under which pages are removed.
     *
     * @return whether the tier has leased it: its memory is free once it is written
     */
    boolean demote(PageKey key, Page page) {
        Evicted evicted = evicted(key, page, epochs(key));
        return evicted != null && disk.offer(evicted);
    }

    /**
     * Puts a page on disk because an operator wants it there, whether it was read or not. The look
     * for it comes after its epochs: one that is removed after the look is not kept.
     */
    Kept keep(PageKey key, Function<PageKey, @Nullable Page> look) {
        Epochs epochs = epochs(key);
        VersionName name = name(key.version());
        Page page = look.apply(key);
        if (name == null || (page != null && page.isGuest())) {
            return Kept.NEVER;
        }
        if (page == null) {
            return holds(key.version(), key.index(), key.index() + 1) ? Kept.YES : Kept.MISSING;
        }
        return disk.keep(new Evicted(key, page, name, epochs, this));
    }

    /** Returns whether all of these pages are on disk, as a hint. */
    boolean holds(ObjectVersion version, long first, long end) {
        VersionName name = name(version);
        return name != null && disk.held(name).holdsAll(first, end);
    }

    /** Returns the most bytes that the tenant may have on disk. */
    long shareBytes(String tenant) {
        return disk.shareBytes(tenant);
    }

    /** Returns how many bytes of pages more may wait to be written. */
    long queueRoomBytes() {
        return disk.queueRoomBytes();
    }

    private @Nullable Evicted evicted(PageKey key, Page page, Epochs epochs) {
        VersionName name = name(key.version());
        return name == null || page.isUnread() || page.isGuest()
                ? null
                : new Evicted(key, page, name, epochs, this);
    }

    /** The epochs of a key at which one of its pages was given up. */
    private record Epochs(long writes, long removals) {}

    private Epochs epochs(PageKey key) {
        ObjectId id = key.version().object();
        return new Epochs(writes.epoch(id), removals.get(Writes.stripe(id)));
    }

    private boolean isCurrent(PageKey key, Epochs epochs) {
        ObjectId id = key.version().object();
        return writes.isCurrent(id, epochs.writes())
                && removals.get(Writes.stripe(id)) == epochs.removals();
    }

    private record Evicted(PageKey key, Page page, VersionName version, Epochs epochs,
            LowerTier tier) implements EvictedPage {
        @Override
        public String tenant() {
            return page.tenant();
        }

        @Override
        public long index() {
            return key.index();
        }

        @Override
        public int slotBytes() {
            return page.slotBytes();
        }

        @Override
        public @Nullable PageSlice tryLease() {
            Lease lease = page.tryRetain();
            return lease == null ? null : new PageSlice(lease, 0, 0, page.length());
        }

        @Override
        public int crc32c(PageSlice leased) {
            return page.requireCrc32c();
        }

        @Override
        public boolean isCurrent() {
            return tier.isCurrent(key, epochs);
        }
    }

    /** Splits runs where the page is in another place, so that no run asks two. */
    List<List<FillClaim>> split(List<List<FillClaim>> runs) {
        List<List<FillClaim>> split = new ArrayList<>();
        for (List<FillClaim> run : runs) {
            ObjectVersion version = run.getFirst().key().version();
            VersionName name = name(version);
            DiskTier.Held held = name == null ? null : disk.held(name);
            if (held == null || !held.mayHold()) {
                split.add(run);
            } else {
                split(run, held, split);
            }
        }
        return split;
    }

    private static void split(List<FillClaim> run, DiskTier.Held held,
            List<List<FillClaim>> into) {
        int from = 0;
        int holder = held.holder(run.getFirst().key().index());
        for (int to = 1; to < run.size(); to++) {
            int next = held.holder(run.get(to).key().index());
            if (next != holder) {
                into.add(run.subList(from, to));
                from = to;
                holder = next;
            }
        }
        into.add(run.subList(from, run.size()));
    }

    /** Returns a source that asks the disk first. */
    PageSource before(PageSource store) {
        return new PageSource() {
            @Override
            public void fetch(ObjectVersion version, long offset, long length, Sink sink) {
                VersionName name = name(version);
                long first = offset / pageBytes;
                DiskTier.Held held = name == null ? null : disk.held(name);
                int holder = held == null || !held.mayHold()
                        ? DiskTier.NOBODY
                        : held.holder(first);
                if (held == null || holder == DiskTier.NOBODY) {
                    store.fetch(version, offset, length, sink);
                    return;
                }
                held.read(holder, first, (int) Math.ceilDiv(length, (long) pageBytes),
                        new Promotion(store, version, offset, length, sink));
            }

            @Override
            public @Nullable WholeChecksum checksum(ObjectVersion version) {
                return store.checksum(version);
            }
        };
    }

    /** Takes a run's pages from disk, and the rest of the run from the store. */
    private final class Promotion implements PageTaker {
        private final PageSource store;
        private final ObjectVersion version;
        private final long offset;
        private final long length;
        private final PageSource.Sink sink;
        private boolean failed;

        Promotion(PageSource store, ObjectVersion version, long offset, long length,
                PageSource.Sink sink) {
            this.store = store;
            this.version = version;
            this.offset = offset;
            this.length = length;
            this.sink = sink;
        }

        @Override
        public @Nullable LentMemory room() {
            LentMemory lent = failed ? null : sink.lend();
            if (lent == null && !failed) {
                // The fill has ended: its bytes are not those that the store's checksum names.
                failed = true;
                sink.fail(new FillException(Reason.BACKEND_FAILED, "no memory was lent", null));
            }
            return lent;
        }

        @Override
        public void page(int crc32c) {
            try {
                sink.placed(crc32c);
            } catch (RuntimeException | Error e) {
                // A part may have been taken, so nothing can follow.
                failed = true;
                sink.fail(new FillException(Reason.BACKEND_FAILED, "a page was not taken", e));
                throw e;
            }
        }

        @Override
        public void hung(int pages) {
            try {
                sink.renew();
            } catch (RuntimeException | Error e) {
                failed = true;
                sink.fail(new FillException(Reason.BACKEND_FAILED, "no other memory was had", e));
                return;
            }
            ended(pages);
        }

        @Override
        public void ended(int pages) {
            long done = Math.min(length, (long) pages * pageBytes);
            if (failed) {
                return;
            }
            if (done == length) {
                sink.complete();
                return;
            }
            try {
                store.fetch(version, offset + done, length - done, sink);
            } catch (RuntimeException | Error e) {
                sink.fail(new FillException(Reason.BACKEND_FAILED, "the fetch could not be sent",
                        e));
            }
        }
    }

    /**
     * Evicts objects by name, whose pages in memory are gone already.
     *
     * @return the disks on which the eviction is not recorded, so that a restart could undo it
     */
    CompletableFuture<List<String>> evict(Selection selection) {
        raiseAll();
        return disk.evict(new EvictedNames(selection.bucket(), selection.name(),
                switch (selection.kind()) {
                    case KEY -> EvictedNames.Kind.KEY;
                    case PREFIX -> EvictedNames.Kind.PREFIX;
                }));
    }

    /** Returns whether tenants' keys can be erased. */
    boolean canErase() {
        return disk.isEncrypted();
    }

    /** Erases all that a tenant has; returns the disks on which it is not erased. */
    CompletableFuture<List<String>> erase(String tenant) {
        raiseAll();
        return disk.erase(tenant);
    }

    /**
     * Keeps every page off the disks that was given up before, and is neither in memory nor queued
     * at this moment. Pages of others are lost with them; that is rare, and costs a fetch.
     */
    private void raiseAll() {
        for (int i = 0; i < Writes.KEY_STRIPES; i++) {
            removals.incrementAndGet(i);
        }
    }

    /**
     * Evicts all versions of an object whose bytes were refuted, and that are gone from memory
     * already. A written object needs no such eviction: pages are found by their version.
     */
    void evictRefuted(ObjectId id) {
        removals.incrementAndGet(Writes.stripe(id));
        VersionName name = name(new ObjectVersion(id, "", "", 0));
        if (name != null) {
            disk.evictRefuted(name);
        }
    }

    /**
     * Removes a version that was refuted or evicted, and whose pages in memory are gone already. It
     * hashes once for each page.
     */
    void forget(ObjectVersion version) {
        removals.incrementAndGet(Writes.stripe(version.object()));
        VersionName name = name(version);
        if (name != null) {
            disk.forget(name, 0, Math.ceilDiv(version.sizeBytes(), (long) pageBytes));
        }
    }

    /** Removes one page that is gone from memory already. */
    void forget(PageKey key) {
        removals.incrementAndGet(Writes.stripe(key.version().object()));
        VersionName name = name(key.version());
        if (name != null) {
            disk.forget(name, key.index(), 1);
        }
    }

    /**
     * Offers cached pages at the end, for some seconds at most, so that they are there after a
     * restart. Blocks while too many wait.
     */
    void save(PageIndex index) {
        long end = System.nanoTime() + LONGEST_SAVE.toNanos();
        for (var keys : index.keys()) {
            Iterator<PageKey> each = keys.iterator();
            while (each.hasNext() && System.nanoTime() - end < 0) {
                PageKey key = each.next();
                // Before the look: a page that is removed after it is not kept.
                Epochs epochs = epochs(key);
                Page page = index.peek(key);
                Evicted evicted = page == null ? null : evicted(key, page, epochs);
                if (evicted != null) {
                    disk.save(evicted, end);
                }
            }
        }
    }
}
