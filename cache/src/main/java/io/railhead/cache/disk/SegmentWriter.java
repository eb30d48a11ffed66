package io.railhead.cache.disk;

import io.railhead.cache.disk.SegmentFooter.Entry;
import io.railhead.os.Mapping;
import io.railhead.os.OsException;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The open segment of a volume, into which pages are written one behind the other. When it is full
 * its footer is written, and the oldest segment is opened next. Where the index is full before the
 * disk, that is the oldest segment with pages. One thread.
 *
 * <p> Order on the disk: the old footer is zeroed and flushed before a page is overwritten that it
 * names. Its pages are found until then, so a disk that cannot be written keeps all it holds. Pages
 * are not flushed before the new footer: their sums tell.
 */
final class SegmentWriter implements AutoCloseable {
    private static final int NONE = -1;

    final LongAdder writtenBytes = new LongAdder();
    final LongAdder sealed = new LongAdder();
    private final DiskVolume volume;
    private final DiskLayout layout;
    private final Mapping memory;
    private final MemorySegment footer;
    private final MemorySegment lastUnit;
    /** Segments that could not be opened: tried again after all others. */
    private final BitSet failed = new BitSet();
    private @Nullable OpenSegment segment;
    private long lastSequence;

    /**
     * A page to write.
     *
     * @param bytes the page's bytes: each part but the last is whole units, and starts at one
     * @param evictions the number of the last eviction by name when the page was offered
     * @param current whether the bytes may still be kept
     */
    record Offered(PageIdentity identity, VersionName.Digest version, int crc,
            List<MemorySegment> bytes, long evictions, BooleanSupplier current) {}

    SegmentWriter(DiskVolume volume) {
        this.volume = volume;
        this.layout = volume.layout;
        this.memory = Mapping.anonymous((long) layout.footerBytes() + DiskLayout.UNIT_BYTES);
        this.footer = memory.segment().asSlice(0, layout.footerBytes());
        this.lastUnit = memory.segment().asSlice(layout.footerBytes(), DiskLayout.UNIT_BYTES);
    }

    /**
     * Writes a page and makes it visible. Throws {@link OsException} if the disk fails; then the
     * page is not visible.
     *
     * @return false if the page was not kept
     */
    boolean write(Offered page) {
        List<MemorySegment> bytes = page.bytes();
        int length = (int) bytes.stream().mapToLong(MemorySegment::byteSize).sum();
        int units = DiskLayout.unitsOf(length);
        OpenSegment now = segment;
        if (now != null && (!now.fits(units) || volume.index.isFull())) {
            seal();
            now = null;
        }
        if (now == null) {
            now = open(volume.index.isFull());
        }
        Entry entry = new Entry(page.identity(), page.version().objectHash(), now.take(units),
                length, page.crc());
        writeUnits(now.segment, entry.unit(), bytes);
        writtenBytes.add((long) units * DiskLayout.UNIT_BYTES);
        return now.tryAdd(entry, page);
    }

    /** Writes whole units out of the page's own memory, and a part of a unit with zeros behind. */
    private void writeUnits(int segment, int unit, List<MemorySegment> bytes) {
        long at = layout.unitAt(segment, unit);
        for (MemorySegment part : bytes) {
            long whole = part.byteSize() - part.byteSize() % DiskLayout.UNIT_BYTES;
            if (whole > 0) {
                volume.file.write(part.asSlice(0, whole), at);
                at += whole;
            }
            long rest = part.byteSize() - whole;
            if (rest > 0) {
                // The memory behind a short page has another tenant's former bytes.
                lastUnit.asSlice(rest).fill((byte) 0);
                MemorySegment.copy(part, whole, lastUnit, 0, rest);
                volume.file.write(lastUnit, at);
                at += DiskLayout.UNIT_BYTES;
            }
        }
    }

    /**
     * Opens the oldest segment, and drops its pages once it is sure that it can be written.
     *
     * @param withPages whether only a segment with pages helps, since the index is full
     */
    private OpenSegment open(boolean withPages) {
        int oldest = oldest(withPages);
        SegmentFooter old;
        try {
            old = volume.readFooter(oldest, footer);
            MemorySegment head = footer.asSlice(0, DiskLayout.UNIT_BYTES).fill((byte) 0);
            volume.file.write(head, layout.footerAt(oldest));
            volume.file.sync();
        } catch (OsException e) {
            failed.set(oldest);
            throw e;
        }
        if (volume.sequence(oldest) != 0) {
            volume.reused();
            volume.sequence(oldest, 0);
            volume.drop(oldest, old);
        }
        lastSequence++;
        OpenSegment begun = volume.begin(oldest, lastSequence);
        segment = begun;
        return begun;
    }

    private int oldest(boolean withPages) {
        int oldest = findOldest(withPages);
        if (oldest == NONE) {
            failed.clear();
            oldest = findOldest(withPages);
        }
        if (oldest == NONE) {
            throw new OsException("no segment of the disk can be written", 0);
        }
        return oldest;
    }

    private int findOldest(boolean withPages) {
        int oldest = NONE;
        for (int i = 0; i < layout.segments(); i++) {
            long each = volume.sequence(i);
            if (each == DiskVolume.UNUSABLE) {
                continue;
            }
            lastSequence = Math.max(lastSequence, each);
            boolean may = !failed.get(i) && !(withPages && each == 0);
            if (may && (oldest == NONE || each < volume.sequence(oldest))) {
                oldest = i;
            }
        }
        return oldest;
    }

    /** Writes the superblock as it is: throws {@link OsException} if that fails. */
    void probe() {
        MemorySegment.copy(MemorySegment.ofArray(volume.superblock.encoded()), 0, lastUnit, 0,
                DiskLayout.UNIT_BYTES);
        volume.file.write(lastUnit, layout.secondSuperblockAt());
    }

    /** Writes the open segment's footer, so that its pages survive a restart. */
    void seal() {
        OpenSegment full = segment;
        if (full == null) {
            return;
        }
        segment = null;
        OpenSegment.Sealed ended = volume.end(full);
        List<Entry> entries = ended.entries();
        if (entries.isEmpty()) {
            volume.sequence(full.segment, 0);
            return;
        }
        new SegmentFooter(volume.superblock.volume(), full.sequence, volume.superblock.epoch(),
                ended.stamp(), entries).encodeTo(footer.asByteBuffer());
        int used = SegmentFooter.HEADER_BYTES + entries.size() * SegmentFooter.ENTRY_BYTES;
        volume.file.write(footer.asSlice(0,
                (long) DiskLayout.unitsOf(used) * DiskLayout.UNIT_BYTES),
                layout.footerAt(full.segment));
        sealed.increment();
    }

    @Override
    public void close() {
        memory.close();
    }
}
