package io.railhead.benchmarks.hitratio;

import io.railhead.cache.CacheConfig;
import io.railhead.cache.FillException;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.ObjectId;
import io.railhead.cache.ObjectVersion;
import io.railhead.cache.RangeReader;
import io.railhead.cache.ReadAhead;
import io.railhead.cache.ReadRequest;
import io.railhead.cache.disk.DiskConfig;
import io.railhead.cache.disk.DiskStats.NotKept;
import io.railhead.cache.disk.DiskTier;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageMemory.Pool;
import io.railhead.cache.memory.PageSlice;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The product's own cache over real page memory, each page an object of one small slot. One thread.
 */
final class RealCache implements AutoCloseable {
    private static final int SLOT_BYTES = 4 << 10;
    private static final int LARGE_SLOT_BYTES = 64 << 10;
    /** The part that fills keep free: at least two runs, else a sixteenth. */
    private static final double HELD_PART = 15 / 16.0;
    /** As many entries have room in a segment's list. */
    private static final int PAGES_PER_SEGMENT = 6551;
    private static final long SEGMENT_BYTES = 64L << 20;
    private static final long QUEUE_BYTES = 1 << 20;
    /** The trace's days pass in seconds, so no call counts as hanging. */
    private static final Duration NEVER = Duration.ofDays(1000);
    private static final ByteBuffer PAGE = ByteBuffer.allocateDirect(SLOT_BYTES);
    private static final CacheConfig CONFIG = new CacheConfig(LARGE_SLOT_BYTES, SLOT_BYTES,
            Duration.ZERO, 1, 0.5, new ReadAhead.Limits(0, 0));

    private final PageMemory memory;
    private final @Nullable DiskTier disk;
    private final @Nullable Path file;
    private final long nanosPerRead;
    private final AtomicLong nanos = new AtomicLong();
    private final ObjectCache cache;
    private final Semaphore ended = new Semaphore(0);
    private volatile boolean fetched;

    private final RangeReader.Sink dropped = new RangeReader.Sink() {
        @Override
        public void slice(PageSlice ownedSlice) {
            ownedSlice.close();
        }

        @Override
        public void end() {
            ended.release();
        }

        @Override
        public void failed(FillException cause, long atOffset) {
            throw new IllegalStateException("a fill failed", cause);
        }
    };

    /** Creates a cache that holds about this many pages. */
    RealCache(int pages) {
        this(pages, 0, 0, 0);
    }

    /**
     * Creates a cache over a disk, in a temporary file.
     *
     * @param diskPages how many pages the disk has, as {@link #diskPages} says; 0 for no disk
     * @param nanosPerRead how much later each read is
     */
    RealCache(int pages, int diskPages, long nanosPerRead, long bytesPerDay) {
        this.nanosPerRead = nanosPerRead;
        long bytes = Math.ceilDiv((long) (pages * (long) SLOT_BYTES / HELD_PART),
                LARGE_SLOT_BYTES) * LARGE_SLOT_BYTES;
        memory = PageMemory.open(new MemoryConfig(bytes, LARGE_SLOT_BYTES, 0, false), _ -> {});
        while (memory.stats().capacityBytes() < bytes) {
            Thread.onSpinWait();
        }
        file = diskPages == 0 ? null : temporary();
        disk = file == null ? null : open(file, diskPages, bytesPerDay);
        cache = new ObjectCache(memory, CONFIG, System::nanoTime,
                disk == null ? null : new ObjectCache.Lower(disk, id -> "store"));
    }

    /** Returns how many pages a disk of whole segments has, that has so many at least. */
    static int diskPages(int wanted) {
        return Math.max(2, Math.ceilDiv(wanted, PAGES_PER_SEGMENT)) * PAGES_PER_SEGMENT;
    }

    private static Path temporary() {
        try {
            return Files.createTempFile("railhead-hit-ratio", "");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private DiskTier open(Path path, int diskPages, long bytesPerDay) {
        long segments = diskPages / PAGES_PER_SEGMENT;
        DiskTier opened = DiskTier.open(new DiskConfig(List.of(path.toString()),
                (1 << 20) + segments * SEGMENT_BYTES + DiskConfig.UNIT_BYTES, bytesPerDay, 1,
                SLOT_BYTES, QUEUE_BYTES, NEVER), nanos::get);
        while (!opened.isRecovered()) {
            Thread.onSpinWait();
        }
        return opened;
    }

    /** Returns whether the disk has begun to give up pages; false if there is none. */
    boolean diskIsFull() {
        return disk != null && disk.stats()
                .notKept()
                .entrySet()
                .stream()
                .anyMatch(each -> each.getValue() > 0 && (each.getKey() == NotKept.ONCE
                        || each.getKey() == NotKept.BUDGET));
    }

    long writtenPages() {
        return disk == null ? 0 : disk.stats().writtenPages();
    }

    /** Reads a page; returns whether it was cached. */
    boolean read(long page) {
        ObjectVersion version = new ObjectVersion(
                new ObjectId("store", "", "trace", Long.toString(page), null), "\"1\"", "",
                SLOT_BYTES);
        fetched = false;
        cache.read(new ReadRequest(version, 0, SLOT_BYTES, Pool.CACHE), (_, _, _, sink) -> {
            fetched = true;
            sink.write(PAGE.duplicate());
            sink.complete();
        }, Runnable::run, dropped).start();
        ended.acquireUninterruptibly();
        nanos.addAndGet(nanosPerRead);
        while (disk != null && disk.queueRoomBytes() < QUEUE_BYTES) {
            // A queue would drop what a trace gives up at once, and a slower machine more of it.
            Thread.onSpinWait();
        }
        return !fetched;
    }

    /** Returns how many pages the cache holds at most, a limit that the other policies get too. */
    static int capacity(int pages) {
        try (RealCache cache = new RealCache(pages)) {
            int asked = 4 * pages;
            for (int page = 0; page < asked; page++) {
                cache.read(page);
            }
            return Math.toIntExact(cache.cache.stats().pages());
        }
    }

    @Override
    public void close() {
        cache.close();
        if (disk != null) {
            disk.close();
        }
        memory.close();
        if (file != null) {
            try {
                Files.delete(file);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
