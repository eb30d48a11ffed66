package io.railhead.cache.disk;

import io.railhead.cache.disk.DiskIndex.Place;
import io.railhead.cache.disk.SegmentFooter.Entry;
import io.railhead.os.BlockFile;
import io.railhead.os.Mapping;
import io.railhead.os.OsException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
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
    /** A segment with a footer that could not be read: left as it is until a restart. */
    static final long UNUSABLE = Long.MAX_VALUE;
    /** The time after which footers are tried again that could not be read. */
    private static final long RETRY_MILLIS = 1000;
    private static final long STEP_MILLIS = 50;
    private static final int RECOVERING_THREADS = 4;
    /** Fewer are not worth another thread. */
    private static final int SEGMENTS_PER_THREAD = 64;
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
    private volatile int unreadable;

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

    /** Notes that a segment with pages is reused. */
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
     * Reads a page into memory of just its units, compares its sum, and zeroes what follows it.
     * Throws {@link OsException} if the disk fails.
     */
    Outcome read(PageIdentity identity, Place place, List<MemorySegment> into) {
        long unit = Integer.toUnsignedLong(place.unit());
        long at = layout.unitAt((int) (unit / layout.unitsPerSegment()),
                (int) (unit % layout.unitsPerSegment()));
        CRC32C crc = new CRC32C();
        long left = place.length();
        for (MemorySegment part : into) {
            file.read(part, at);
            at += part.byteSize();
            long used = Math.min(left, part.byteSize());
            crc.update(part.asSlice(0, used).asByteBuffer());
            part.asSlice(used).fill((byte) 0);
            left -= used;
        }
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
     * Reads the footers and fills the index. Pages are found as soon as their footer was read. A
     * segment without a whole footer counts as empty. Where the disk fails, it is asked once more
     * after the others; then the segment is left alone, since its pages may be good.
     *
     * @param stop ends it early
     * @return the number of footers that were read
     */
    int recover(BooleanSupplier stop) {
        BitSet failed = new BitSet();
        int found = recover(IntStream.range(0, layout.segments()).toArray(), failed, stop);
        if (!failed.isEmpty()) {
            pause(stop);
            int[] again = failed.stream().toArray();
            failed.clear();
            found += recover(again, failed, stop);
        }
        if (stop.getAsBoolean()) {
            return found;
        }
        failed.stream().forEach(segment -> sequences.set(segment, UNUSABLE));
        unreadable = failed.cardinality();
        full = found + unreadable == layout.segments() || index.isFull();
        recovered = true;
        return found;
    }

    /** Reads some footers, by several threads: one would wait for the drive most of the time. */
    private int recover(int[] segments, BitSet failed, BooleanSupplier stop) {
        AtomicInteger next = new AtomicInteger();
        AtomicInteger found = new AtomicInteger();
        Callable<Void> some = () -> {
            try (Mapping memory = Mapping.anonymous(layout.footerBytes())) {
                for (int i = next.getAndIncrement(); i < segments.length
                        && !stop.getAsBoolean(); i = next.getAndIncrement()) {
                    found.addAndGet(recover(segments[i], memory.segment(), failed));
                }
            }
            return null;
        };
        int count = Math.clamp(segments.length / SEGMENTS_PER_THREAD, 1, RECOVERING_THREADS);
        try (ExecutorService threads = Executors.newFixedThreadPool(count,
                Thread.ofPlatform().daemon().name("railhead-disk-recover-", 0).factory())) {
            for (Future<Void> each : threads.invokeAll(Collections.nCopies(count, some))) {
                each.get();
            }
        } catch (ExecutionException e) {
            throw new IllegalStateException("footers could not be read", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
        return found.get();
    }

    private int recover(int segment, MemorySegment memory, BitSet failed) {
        try {
            SegmentFooter footer = readFooter(segment, memory);
            if (footer == null) {
                return 0;
            }
            sequences.set(segment, footer.sequence());
            adopt(segment, footer);
            return 1;
        } catch (OsException e) {
            synchronized (failed) {
                failed.set(segment);
            }
            return 0;
        }
    }

    private static void pause(BooleanSupplier stop) {
        for (long waited = 0; waited < RETRY_MILLIS
                && !stop.getAsBoolean(); waited += STEP_MILLIS) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(STEP_MILLIS));
        }
    }

    /** Returns the number of segments whose footer could not be read. */
    int unreadable() {
        return unreadable;
    }

    private void adopt(int segment, SegmentFooter footer) {
        for (long object : objects(footer)) {
            names.add(object);
        }
        for (Entry entry : footer.entries()) {
            boolean _ = put(segment, footer.sequence(), entry);
        }
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
        for (long object : objects(footer)) {
            names.remove(object);
        }
    }

    /**
     * Returns a segment's footer; null if there is none, or a torn one. Throws {@link OsException}
     * if the disk fails.
     */
    @Nullable
    SegmentFooter readFooter(int segment, MemorySegment memory) {
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
    }

    @Override
    public void close() {
        index.close();
        names.close();
        file.close();
    }
}
