package io.railhead.cache.disk;

import io.railhead.cache.disk.DiskIndex.Place;
import io.railhead.cache.disk.SegmentFooter.Entry;
import io.railhead.os.BlockFile;
import io.railhead.os.Mapping;
import io.railhead.os.OsException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * One file or device: the index of its pages, and its segments' sequences.
 *
 * <p> Any thread finds and reads. One thread at a time changes segments: {@link #recover} at the
 * start, then the {@link SegmentWriter}. A place is good while its segment's sequence is the one
 * that the index has. The sequence is taken away before the segment is written anew, and looked at
 * again after a read. Whatever happens besides, bytes whose CRC32C differs are never given out.
 */
final class DiskVolume implements AutoCloseable {
    /** A segment with a footer that cannot be written: never used again before a restart. */
    static final long UNUSABLE = Long.MAX_VALUE;
    /** The first read of a footer: enough for pages of full length. */
    private static final int FOOTER_START = 16 << 10;

    final BlockFile file;
    final Superblock superblock;
    final DiskLayout layout;
    final DiskIndex index;
    final HeldNames names;
    final LongAdder corrupt = new LongAdder();
    private final AtomicLongArray sequences;
    private volatile boolean recovered;
    private volatile boolean full;

    /** The result of a read. */
    enum Outcome {
        RIGHT,
        /** The segment was written anew meanwhile. */
        GONE,
        /** The bytes are not those that were written; the page is dropped. */
        CORRUPT
    }

    /** @param ownedFile closed with the volume */
    DiskVolume(BlockFile ownedFile, Superblock superblock) {
        this.file = ownedFile;
        this.superblock = superblock;
        this.layout = superblock.layout();
        this.index = new DiskIndex(layout.pages());
        this.names = new HeldNames(layout.pages());
        this.sequences = new AtomicLongArray(layout.segments());
    }

    /** Returns whether all segments are known, so that the oldest can be reused. */
    boolean isRecovered() {
        return recovered;
    }

    /** Returns whether every further write drops pages. */
    boolean isFull() {
        return full;
    }

    /** Notes that a segment with pages was reused. */
    void reused() {
        full = true;
    }

    long sequence(int segment) {
        return sequences.get(segment);
    }

    void sequence(int segment, long sequence) {
        sequences.set(segment, sequence);
    }

    @Nullable
    Place find(PageIdentity identity) {
        Place place = index.find(identity);
        return place == null || !isGood(place) ? null : place;
    }

    private int segmentOf(Place place) {
        return (int) (Integer.toUnsignedLong(place.unit()) / layout.unitsPerSegment());
    }

    private boolean isGood(Place place) {
        return (int) sequences.get(segmentOf(place)) == place.sequence();
    }

    /**
     * Reads a page into memory that holds it in whole units, and compares its sum. Throws
     * {@link OsException} if the disk fails.
     */
    Outcome read(PageIdentity identity, Place place, MemorySegment into) {
        long unit = Integer.toUnsignedLong(place.unit());
        long at = layout.unitAt((int) (unit / layout.unitsPerSegment()),
                (int) (unit % layout.unitsPerSegment()));
        MemorySegment units = into.asSlice(0,
                (long) DiskLayout.unitsOf(place.length()) * DiskLayout.UNIT_BYTES);
        file.read(units, at);
        CRC32C crc = new CRC32C();
        crc.update(units.asSlice(0, place.length()).asByteBuffer());
        if (!isGood(place)) {
            return Outcome.GONE;
        }
        if ((int) crc.getValue() == place.crc()) {
            return Outcome.RIGHT;
        }
        if (index.remove(identity, place.unit())) {
            corrupt.increment();
        }
        return Outcome.CORRUPT;
    }

    /**
     * Reads the footers and fills the index. Pages are found as soon as their footer was read.
     * Footers that cannot be read are passed over: their segments count as empty.
     *
     * @param stop ends it early
     * @return the number of footers that were read
     */
    int recover(BooleanSupplier stop) {
        int found = 0;
        try (Mapping memory = Mapping.anonymous(layout.footerBytes())) {
            for (int segment = 0; segment < layout.segments(); segment++) {
                if (stop.getAsBoolean()) {
                    return found;
                }
                SegmentFooter footer = readFooter(segment, memory.segment());
                if (footer != null) {
                    found++;
                    sequences.set(segment, footer.sequence());
                    adopt(segment, footer);
                }
            }
        }
        full = found == layout.segments();
        recovered = true;
        return found;
    }

    private void adopt(int segment, SegmentFooter footer) {
        for (Entry entry : footer.entries()) {
            names.add(entry.objectHash());
            boolean _ = put(segment, footer.sequence(), entry);
        }
    }

    /** Makes a written page visible; false if the index is full, or has a later copy. */
    boolean put(int segment, long sequence, Entry entry) {
        return index.put(entry.identity(), new Place(unit(segment, entry), entry.length(),
                entry.crc(), (int) sequence));
    }

    int unit(int segment, Entry entry) {
        return (int) ((long) segment * layout.unitsPerSegment() + entry.unit());
    }

    /** Drops a segment's pages from the index. */
    void drop(int segment, MemorySegment footerMemory) {
        SegmentFooter footer = readFooter(segment, footerMemory);
        if (footer == null) {
            long first = (long) segment * layout.unitsPerSegment();
            index.removeUnits(first, first + layout.unitsPerSegment());
            return;
        }
        for (Entry entry : footer.entries()) {
            index.remove(entry.identity(), unit(segment, entry));
            names.remove(entry.objectHash());
        }
    }

    /** Returns a segment's footer; null if there is none, or if it cannot be read. */
    private @Nullable SegmentFooter readFooter(int segment, MemorySegment memory) {
        try {
            int first = Math.min(FOOTER_START, layout.footerBytes());
            file.read(memory.asSlice(0, first), layout.footerAt(segment));
            ByteBuffer bytes = memory.asByteBuffer();
            int length = SegmentFooter.lengthOf(bytes, superblock.volume(), layout.footerBytes());
            if (length > first) {
                file.read(memory.asSlice(first,
                        (long) DiskLayout.unitsOf(length) * DiskLayout.UNIT_BYTES - first),
                        layout.footerAt(segment) + first);
            }
            return SegmentFooter.decode(bytes, superblock.volume(), layout);
        } catch (OsException e) {
            return null;
        }
    }

    @Override
    public void close() {
        index.close();
        file.close();
    }
}
