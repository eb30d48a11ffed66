package io.railhead.cache.disk;

import io.railhead.cache.disk.DiskIndex.Place;
import io.railhead.cache.disk.SegmentFooter.Entry;
import io.railhead.cache.disk.Tombstones.Tombstone;
import io.railhead.os.BlockFile;
import io.railhead.os.Mapping;
import io.railhead.os.OsException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.LongFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One file or device: the index of its pages, and its segments' sequences.
 *
 * <p> Any thread finds and reads. One thread at a time changes segments: {@link #recover} at the
 * start, then the {@link SegmentWriter}. A place is good while its segment's sequence is the one
 * that the index has. The sequence is taken away before the segment is written anew, and looked at
 * again after a read. Whatever happens besides, bytes whose CRC32C differs are never given out.
 *
 * <p> A page that an eviction by name covers is not found. Evictions and changes of the open
 * segments come one at a time; the lock for that is held for no call of the disk.
 */
final class DiskVolume implements AutoCloseable {
    /** A segment with a footer that could not be read: left as it is until a restart. */
    static final long UNUSABLE = Long.MAX_VALUE;

    final BlockFile file;
    final Superblock superblock;
    final DiskLayout layout;
    final DiskIndex index;
    final HeldNames names;
    final Tombstones tombstones;
    final SegmentShares shares;
    /** Null if the volume is not encrypted. */
    final @Nullable TenantKeys keys;
    /** The epochs in which segments were opened. */
    private final AtomicIntegerArray epochs;
    final TombstoneFile tombstoneFile;
    private final CipherPool ciphers;
    private final PageReader pages;
    private final FooterReader footers;
    final LongAdder corrupt = new LongAdder();
    private final AtomicLongArray sequences;
    /** Of sealed segments the number of the last eviction that their pages have survived. */
    private final AtomicLongArray stamps;
    private final Set<OpenSegment> open = new HashSet<>();
    private volatile boolean recovered;
    private volatile boolean full;
    private volatile int unreadable;

    private DiskVolume(BlockFile ownedFile, VolumeOpening.Opened opened,
            Map<String, DiskConfig.Share> tenants, DiskIndex ownedIndex, HeldNames ownedNames) {
        this.file = ownedFile;
        this.superblock = opened.superblock();
        this.tombstoneFile = opened.ownedList();
        this.keys = opened.keys();
        this.tombstones = new Tombstones(superblock.secret().bytes(), superblock.epoch(),
                opened.evictions(), System::nanoTime);
        this.layout = superblock.layout();
        this.index = ownedIndex;
        this.names = ownedNames;
        this.sequences = new AtomicLongArray(layout.segments());
        this.stamps = new AtomicLongArray(layout.segments());
        this.epochs = new AtomicIntegerArray(keys == null ? 0 : layout.segments());
        this.ciphers = new CipherPool(layout.pageBytes());
        this.pages = new PageReader(this, ciphers);
        this.footers = new FooterReader(file, superblock, keys, ciphers);
        Map<TenantId, SegmentShares.Limits> rules = new HashMap<>();
        tenants.forEach((tenant, share) -> rules.put(tenant(tenant), limits(share)));
        this.shares = new SegmentShares(layout.segments(), rules);
    }

    static DiskVolume of(BlockFile ownedFile, VolumeOpening.Opened owned,
            Map<String, DiskConfig.Share> tenants) {
        return of(ownedFile, owned, tenants, Mapping::anonymous);
    }

    /**
     * Returns the volume. If there is no memory for it, all of it is closed but the file.
     *
     * @param ownedFile closed with the volume
     * @param owned its list of evictions is closed with the volume
     * @param tenants those that have a rule
     * @param memory makes memory outside the heap
     */
    static DiskVolume of(BlockFile ownedFile, VolumeOpening.Opened owned,
            Map<String, DiskConfig.Share> tenants, LongFunction<Mapping> memory) {
        long pages = owned.superblock().layout().pages();
        DiskIndex index = null;
        try {
            index = new DiskIndex(pages, memory);
            return new DiskVolume(ownedFile, owned, tenants, index, new HeldNames(pages, memory));
        } catch (RuntimeException | Error e) {
            if (index != null) {
                index.close();
            }
            owned.ownedList().close();
            throw e;
        }
    }

    TenantId tenant(String name) {
        return TenantId.of(name, superblock.secret().bytes());
    }

    private SegmentShares.Limits limits(DiskConfig.Share share) {
        int all = layout.segments();
        // Rounded so that floors together are never more than there is.
        return new SegmentShares.Limits(
                share.quota() >= 1 ? Integer.MAX_VALUE : Math.max(1, (int) (share.quota() * all)),
                (int) (share.floor() * all));
    }

    /** Returns whether every further page of the tenant drops others. */
    boolean isFullFor(TenantId tenant) {
        return full || shares.isAtQuota(tenant);
    }

    /** Returns whether all segments are known, so that the oldest can be reused. */
    boolean isRecovered() {
        return recovered;
    }

    /** Returns whether every further write drops pages. */
    boolean isFull() {
        return full;
    }

    /**
     * Notes that a segment with pages is reused: by a tenant at its quota before the disk is full.
     */
    void reused() {
        full = full || index.isFull() || IntStream.range(0, layout.segments())
                .noneMatch(segment -> sequences.get(segment) == 0);
    }

    /** Notes that segments with pages were given up, which fill again without a budget. */
    void emptied() {
        full = index.isFull();
    }

    long sequence(int segment) {
        return sequences.get(segment);
    }

    void sequence(int segment, long sequence) {
        sequences.set(segment, sequence);
    }

    /** Sets the number of the last eviction that the segment's pages have survived. */
    void stamp(int segment, long stamp) {
        stamps.set(segment, stamp);
    }

    /** Begins a segment, which no eviction misses from now on. */
    synchronized OpenSegment begin(int segment, long sequence, TenantId tenant) {
        OpenSegment begun = new OpenSegment(this, segment, sequence, tenant,
                tombstones.number());
        // Before the sequence: who sees that sees all of these.
        shares.owns(segment, tenant);
        epoch(segment, superblock.epoch());
        // An eviction removes pages from an open segment, so no number can be above its stamp.
        stamps.set(segment, Long.MAX_VALUE);
        sequences.set(segment, sequence);
        open.add(begun);
        return begun;
    }

    /** Returns the epoch in which a segment was opened, if the volume is encrypted. */
    long epoch(int segment) {
        return epochs.get(segment) & 0xffffffffL;
    }

    private void epoch(int segment, long epoch) {
        if (keys != null) {
            epochs.set(segment, (int) epoch);
        }
    }

    /** Returns the units that a page takes: under encryption its tag follows it. */
    int unitsOf(int length) {
        return DiskLayout.unitsOf(keys == null ? length : length + PageCipher.TAG_BYTES);
    }

    /** Gives a segment up that has no pages. */
    void free(int segment) {
        sequences.set(segment, 0);
        shares.owns(segment, null);
    }

    synchronized OpenSegment.Sealed end(OpenSegment segment) {
        open.remove(segment);
        return segment.seal();
    }

    /** Evicts pages by name: on its return none is found, until a restart at least. */
    synchronized Tombstone evict(EvictedNames names) {
        Tombstone tombstone = tombstones.add(names);
        open.forEach(each -> each.evict(names, tombstone.number()));
        return tombstone;
    }

    /**
     * Returns the lowest number of an eviction that all segments' pages have survived; 0 if not all
     * are known.
     *
     * @param from segments with a lower stamp do not count, since their pages are hidden already
     */
    long lowestStamp(long from) {
        if (!recovered || unreadable > 0) {
            return 0;
        }
        long lowest = Long.MAX_VALUE;
        for (int segment = 0; segment < layout.segments(); segment++) {
            if (sequences.get(segment) != 0 && stamps.get(segment) >= from) {
                lowest = Math.min(lowest, stamps.get(segment));
            }
        }
        return lowest;
    }

    /** Returns a page's place, unless it was evicted by name. */
    @Nullable
    Place find(VersionName.Digest version, PageIdentity identity) {
        Place place = find(identity);
        return place == null
                || tombstones.lastOver(version.covering()) > stamps.get(segmentOf(place))
                        ? null
                        : place;
    }

    @Nullable
    Place find(PageIdentity identity) {
        Place place = index.find(identity);
        return place == null || !isGood(place) ? null : place;
    }

    /** Returns whether pages of the object may be here: false is certain. */
    boolean mayHave(VersionName.Digest object) {
        return !recovered || unreadable > 0 || names.mayHold(object.objectHash());
    }

    int segmentOf(Place place) {
        return (int) (Integer.toUnsignedLong(place.unit()) / layout.unitsPerSegment());
    }

    /** Returns whether the page's segment was not written anew meanwhile. */
    boolean isGood(Place place) {
        return (int) sequences.get(segmentOf(place)) == place.sequence();
    }

    /**
     * Reads a page into memory of just its units: see {@link PageReader}. Throws
     * {@link OsException} if the disk fails.
     */
    PageReader.Outcome read(PageIdentity identity, Place place, List<MemorySegment> into) {
        return pages.read(identity, place, into);
    }

    /**
     * Returns a segment's footer; null if there is none, or a torn one. Throws {@link OsException}
     * if the disk fails.
     *
     * @param memory for the longest footer
     */
    @Nullable
    SegmentFooter readFooter(int segment, MemorySegment memory) {
        return footers.read(segment, memory);
    }

    /** Finds what the disk holds: see {@link VolumeRecovery}. */
    int recover(BooleanSupplier stop) {
        return new VolumeRecovery(this).run(stop);
    }

    /**
     * Makes the pages of a footer visible; during recovery, for different segments on any thread.
     */
    void adopt(int segment, SegmentFooter footer) {
        stamps.set(segment, footer.stamp());
        shares.owns(segment, footer.tenant());
        epoch(segment, footer.epoch());
        sequences.set(segment, footer.sequence());
        for (long object : objects(footer)) {
            names.add(object);
        }
        for (Entry entry : footer.entries()) {
            boolean _ = put(segment, footer.sequence(), entry);
        }
    }

    /**
     * Ends the recovery.
     *
     * @param found the number of footers
     * @param failed the segments whose footer could not be read, which are left alone
     */
    void recovered(int found, BitSet failed) {
        failed.stream().forEach(segment -> sequences.set(segment, UNUSABLE));
        unreadable = failed.cardinality();
        full = found + unreadable == layout.segments() || index.isFull();
        recovered = true;
    }

    /** Returns the number of segments whose footer could not be read. */
    int unreadable() {
        return unreadable;
    }

    /** Returns the hashes of the objects that have pages in a segment, each once. */
    private static long[] objects(SegmentFooter footer) {
        long[] hashes = footer.entries().stream().mapToLong(Entry::objectHash).sorted().toArray();
        int count = 0;
        for (int i = 0; i < hashes.length; i++) {
            // LongStream.distinct would box each.
            if (i == 0 || hashes[i] != hashes[i - 1]) {
                hashes[count++] = hashes[i];
            }
        }
        return Arrays.copyOf(hashes, count);
    }

    /** Makes a written page visible; false if the index is full, or has a later copy. */
    boolean put(int segment, long sequence, Entry entry) {
        return index.put(entry.identity(), new Place(unit(segment, entry), entry.length(),
                entry.crc(), (int) sequence));
    }

    int unit(int segment, Entry entry) {
        return (int) ((long) segment * layout.unitsPerSegment() + entry.unit());
    }

    /**
     * Drops a segment's pages from the index.
     *
     * @param footer null if it has none, as after a write of the footer that failed
     */
    void drop(int segment, @Nullable SegmentFooter footer) {
        if (footer == null) {
            long first = (long) segment * layout.unitsPerSegment();
            index.removeUnits(first, first + layout.unitsPerSegment());
            return;
        }
        for (Entry entry : footer.entries()) {
            index.remove(entry.identity(), unit(segment, entry));
        }
        dropNames(footer);
    }

    /** Drops the names of a segment that has no pages any more. */
    void dropNames(SegmentFooter footer) {
        for (long object : objects(footer)) {
            names.remove(object);
        }
    }

    @Override
    public void close() {
        index.close();
        names.close();
        ciphers.close();
        tombstoneFile.close();
        file.close();
    }
}
