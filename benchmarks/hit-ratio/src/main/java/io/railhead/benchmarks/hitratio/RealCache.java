package io.railhead.benchmarks.hitratio;

import io.railhead.cache.CacheConfig;
import io.railhead.cache.FillException;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.ObjectId;
import io.railhead.cache.ObjectVersion;
import io.railhead.cache.RangeReader;
import io.railhead.cache.ReadAhead;
import io.railhead.cache.ReadRequest;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageMemory.Pool;
import io.railhead.cache.memory.PageSlice;
import java.nio.ByteBuffer;
import java.time.Duration;

/**
 * The product's own cache over real page memory, each page an object of one small slot. One thread.
 */
final class RealCache implements AutoCloseable {
    private static final int SLOT_BYTES = 4 << 10;
    private static final int LARGE_SLOT_BYTES = 64 << 10;
    /** The part that fills keep free: at least two runs, else a sixteenth. */
    private static final double HELD_PART = 15 / 16.0;
    private static final ByteBuffer PAGE = ByteBuffer.allocateDirect(SLOT_BYTES);
    private static final CacheConfig CONFIG = new CacheConfig(LARGE_SLOT_BYTES, SLOT_BYTES,
            Duration.ZERO, 1, 0.5, new ReadAhead.Limits(0, 0));

    private final PageMemory memory;
    private final ObjectCache cache;
    private boolean fetched;

    private final RangeReader.Sink dropped = new RangeReader.Sink() {
        @Override
        public void slice(PageSlice ownedSlice) {
            ownedSlice.close();
        }

        @Override
        public void end() {}

        @Override
        public void failed(FillException cause, long atOffset) {
            throw new IllegalStateException("a fill failed", cause);
        }
    };

    /** Creates a cache that holds about this many pages. */
    RealCache(int pages) {
        long bytes = Math.ceilDiv((long) (pages * (long) SLOT_BYTES / HELD_PART),
                LARGE_SLOT_BYTES) * LARGE_SLOT_BYTES;
        memory = PageMemory.open(new MemoryConfig(bytes, LARGE_SLOT_BYTES, 0, false), _ -> {});
        while (memory.stats().capacityBytes() < bytes) {
            Thread.onSpinWait();
        }
        cache = new ObjectCache(memory, CONFIG, System::nanoTime);
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
        memory.close();
    }
}
