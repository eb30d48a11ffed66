package io.railhead.cache.disk;

import io.railhead.cache.disk.DiskStats.NotKept;
import io.railhead.cache.disk.SegmentFooter.Entry;
import io.railhead.os.OsException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import javax.crypto.SecretKey;
import org.jspecify.annotations.Nullable;

/**
 * The open segments of a volume, one for each tenant that writes, into which its pages are written
 * one behind the other. When one is full its footer is written, and {@link SegmentShares} choose
 * the next. Where the index is full before the disk, that is one with pages. One thread.
 *
 * <p> No segment has pages of two tenants, nor bytes of another one behind its pages. So tenants
 * with little to write use up segments: their number is bounded, and one more tenant must wait
 * until another has not written for a while.
 *
 * <p> Order on the disk: the old footer is zeroed and flushed before a page is overwritten that it
 * names. Its pages are found until then, so a disk that cannot be written keeps all it holds. Pages
 * are not flushed before the new footer: their sums tell.
 */
final class SegmentWriter implements SegmentShares.Segments, AutoCloseable {
    private static final int MOST_OPEN = 64;
    /** A tenant that has not written for so long gives its open segment up to another one. */
    static final Duration IDLE = Duration.ofSeconds(60);

    final LongAdder writtenBytes = new LongAdder();
    final LongAdder sealed = new LongAdder();
    private final DiskVolume volume;
    private final DiskLayout layout;
    private final LongSupplier nanoClock;
    private final int mostOpen;
    private final SegmentBytes bytes;
    /** Segments that could not be opened: tried again after all others. */
    private final BitSet failed = new BitSet();
    /** The evictions' numbers when tenants were erased. */
    private final Map<TenantId, Long> erased = new HashMap<>();
    private final BitSet inUse = new BitSet();
    /** Segments in which this process has left no byte that is not their tenant's. */
    private final BitSet clean = new BitSet();
    /** Never used again in this epoch, whatever becomes of the segment. */
    private long lastSequence;
    /** In the order of their last use. */
    private final Map<TenantId, OpenSegment> open = new LinkedHashMap<>(16, 0.75f, true);

    /**
     * A page to write.
     *
     * @param bytes the page's bytes: each part but the last is whole units, and starts at one
     * @param evictions the number of the last eviction by name when the page was offered
     * @param current whether the bytes may still be kept
     */
    record Offered(TenantId tenant, PageIdentity identity, VersionName.Digest version, int crc,
            List<MemorySegment> bytes, long evictions, BooleanSupplier current) {}

    SegmentWriter(DiskVolume volume, LongSupplier nanoClock) {
        this(volume, nanoClock, new PageCipher(volume.layout.pageBytes()));
    }

    SegmentWriter(DiskVolume volume, LongSupplier nanoClock, PageCipher ownedCipher) {
        this.bytes = new SegmentBytes(volume, ownedCipher);
        this.volume = volume;
        this.layout = volume.layout;
        this.nanoClock = nanoClock;
        this.mostOpen = Math.max(1, Math.min(MOST_OPEN, layout.segments() / 2));
    }

    /**
     * Writes a page and makes it visible. Throws {@link OsException} if the disk fails; then the
     * page is not visible.
     *
     * @return the reason if the page was not kept; null if it was
     */
    @Nullable
    NotKept write(Offered page) {
        if (page.evictions() < erased.getOrDefault(page.tenant(), 0L)) {
            return NotKept.OVERTAKEN;
        }
        int length = (int) page.bytes().stream().mapToLong(MemorySegment::byteSize).sum();
        int units = volume.unitsOf(length);
        OpenSegment now = open.get(page.tenant());
        if (now != null && (!now.fits(units) || volume.index.isFull())) {
            seal(now);
            now = null;
        }
        if (now == null) {
            now = tryOpen(page.tenant());
        }
        if (now == null) {
            return NotKept.TENANTS;
        }
        now.usedAtNanos = nanoClock.getAsLong();
        Entry entry = new Entry(page.identity(), page.version().objectHash(), now.take(units),
                length, page.crc());
        bytes.writePage(now, entry, page.bytes());
        now.unwritten.clear(entry.unit(), entry.unit() + units);
        writtenBytes.add((long) units * DiskLayout.UNIT_BYTES);
        return now.tryAdd(entry, page) ? null : NotKept.OVERTAKEN;
    }

    /**
     * Opens a segment for a tenant, and drops its pages once it is sure that it can be written.
     *
     * @return null if the tenant may have none now
     */
    private @Nullable OpenSegment tryOpen(TenantId tenant) {
        if (open.size() >= mostOpen && !trySealIdle()) {
            return null;
        }
        TenantKeys keys = volume.keys;
        SecretKey key = keys == null
                ? null
                : keys.findOrMake(tenant, each -> volume.shares.count(each) > 0);
        int chosen = keys != null && key == null ? SegmentShares.NONE : choose(tenant);
        if (chosen == SegmentShares.NONE) {
            return null;
        }
        SegmentFooter old;
        try {
            old = bytes.readFooter(chosen);
            bytes.clearFooter(chosen);
        } catch (OsException e) {
            failed.set(chosen);
            throw e;
        }
        boolean own = clean.get(chosen) && tenant.equals(volume.shares.owner(chosen));
        clean.clear(chosen);
        if (volume.sequence(chosen) != 0) {
            volume.reused();
            volume.sequence(chosen, 0);
            volume.drop(chosen, old);
        }
        lastSequence = Math.max(lastSequence, highestSequence()) + 1;
        OpenSegment begun = volume.begin(chosen, lastSequence, tenant);
        begun.key = key;
        inUse.set(chosen);
        if (!own) {
            // Whatever is not overwritten may be another tenant's.
            begun.unwritten.set(0, layout.dataUnits());
        }
        open.put(tenant, begun);
        return begun;
    }

    private int choose(TenantId tenant) {
        boolean withPages = volume.index.isFull();
        int chosen = volume.shares.choose(tenant, this, withPages);
        if (chosen == SegmentShares.NONE && !failed.isEmpty()) {
            failed.clear();
            chosen = volume.shares.choose(tenant, this, withPages);
        }
        return chosen;
    }

    @Override
    public long sequence(int segment) {
        return volume.sequence(segment);
    }

    @Override
    public boolean isUsable(int segment) {
        return !failed.get(segment) && !inUse.get(segment)
                && volume.sequence(segment) != DiskVolume.UNUSABLE;
    }

    private long highestSequence() {
        long last = 0;
        for (int i = 0; i < layout.segments(); i++) {
            long each = volume.sequence(i);
            if (each != DiskVolume.UNUSABLE) {
                last = Math.max(last, each);
            }
        }
        return last;
    }

    /** Seals the segment that was not used for the longest time, if that is long enough. */
    private boolean trySealIdle() {
        OpenSegment eldest = open.values().iterator().next();
        boolean idle = nanoClock.getAsLong() - eldest.usedAtNanos > IDLE.toNanos();
        if (idle) {
            seal(eldest);
        }
        return idle;
    }

    /** Ends all open segments, as {@link #seal(BooleanSupplier)} with time for everything. */
    void seal() {
        seal(() -> false);
    }

    /**
     * Writes the open segments' footers, so that their pages survive a restart. Then it zeroes what
     * they have of other tenants' former bytes: nothing reads these, and a segment that was left
     * out is zeroed when it is written next. Throws {@link OsException} if the disk fails for some,
     * after all were tried.
     *
     * @param late whether no time is left to zero more
     */
    void seal(BooleanSupplier late) {
        List<OpenSegment> listed = new ArrayList<>();
        OsException failure = forEach(new ArrayList<>(open.values()), each -> {
            OpenSegment.Sealed ended = end(each);
            if (!ended.entries().isEmpty()) {
                listed.add(each);
                writeFooter(each, ended);
            }
        });
        OsException later = forEach(listed, each -> {
            if (!late.getAsBoolean()) {
                zeroUnwritten(each);
            }
        });
        if (failure != null) {
            throw failure;
        }
        if (later != null) {
            throw later;
        }
    }

    /** Returns the last failure; null if there was none. */
    private static @Nullable OsException forEach(List<OpenSegment> segments,
            Consumer<OpenSegment> step) {
        OsException failure = null;
        for (OpenSegment each : segments) {
            try {
                step.accept(each);
            } catch (OsException e) {
                failure = e;
            }
        }
        return failure;
    }

    private void seal(OpenSegment full) {
        OpenSegment.Sealed ended = end(full);
        if (!ended.entries().isEmpty()) {
            zeroUnwritten(full);
            writeFooter(full, ended);
        }
    }

    /** Ends a segment, and gives it up if it has no pages. */
    private OpenSegment.Sealed end(OpenSegment full) {
        open.remove(full.tenant);
        inUse.clear(full.segment);
        OpenSegment.Sealed ended = volume.end(full);
        if (ended.entries().isEmpty()) {
            volume.free(full.segment);
        }
        return ended;
    }

    private void writeFooter(OpenSegment full, OpenSegment.Sealed ended) {
        bytes.writeFooter(full, ended);
        sealed.increment();
    }

    private void zeroUnwritten(OpenSegment full) {
        writtenBytes.add(bytes.zeroUnwritten(full));
        clean.set(full.segment);
    }

    /** Writes the superblock as it is: throws {@link OsException} if that fails. */
    void probe() {
        bytes.probe();
    }

    /**
     * Erases all that a tenant has: its pages are not found any more, and on the return its key is
     * gone from the disk. Throws {@link OsException} if the disk fails; then the key may be there.
     *
     * @param step called between two calls of the disk, of which there are as many as segments
     * @return the number of lists that could not be read: their names stay known until the next
     *         start, and lead to nothing
     */
    int erase(TenantId tenant, TenantKeys keys, Runnable step) {
        // Pages that wait were offered before, and must not come back under another key.
        erased.put(tenant, volume.tombstones.next());
        BitSet listed = volume.shares.segmentsOf(tenant);
        OpenSegment unfinished = open.remove(tenant);
        if (unfinished != null) {
            inUse.clear(unfinished.segment);
            listed.clear(unfinished.segment);
            OpenSegment.Sealed _ = volume.end(unfinished);
            unfinished.dropNames();
        }
        BitSet segments = volume.shares.segmentsOf(tenant);
        lastSequence = Math.max(lastSequence, highestSequence());
        segments.stream().forEach(segment -> volume.sequence(segment, 0));
        int unread = 0;
        try {
            // As long as there is a key to read the lists with.
            for (int each = listed.nextSetBit(0); each >= 0; each = listed.nextSetBit(each + 1)) {
                unread += tryDropNames(each) ? 0 : 1;
                step.run();
            }
            keys.erase(tenant);
        } finally {
            volume.index.removeIf(
                    unit -> segments.get((int) (unit / layout.unitsPerSegment())));
            segments.stream().forEach(volume::free);
            volume.emptied();
        }
        return unread;
    }

    private boolean tryDropNames(int segment) {
        try {
            SegmentFooter listed = bytes.readFooter(segment);
            if (listed != null) {
                volume.dropNames(listed);
            }
            return listed != null;
        } catch (OsException e) {
            return false;
        }
    }

    @Override
    public void close() {
        bytes.close();
    }
}
