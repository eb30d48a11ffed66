package io.railhead.cache;

import io.railhead.cache.memory.LeakCheck;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageMemory.Pool;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BooleanSupplier;

/** A small cache over a backend in memory. */
final class CacheRig implements AutoCloseable {
    static final int PAGE = 64 << 10;
    static final int RUN = 4 * PAGE;
    static final ReadAhead.Limits AHEAD = new ReadAhead.Limits(8 * RUN, 16 * RUN);

    final PageMemory memory;
    final ObjectCache cache;
    final MemorySource source = new MemorySource();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    private CacheRig(LeakCheck leaks, int pages, double reserve, CacheConfig config) {
        memory = leaks.watch(PageMemory.open(
                new MemoryConfig((long) pages * PAGE, PAGE, reserve, false), slab -> {}));
        cache = leaks.closing(new ObjectCache(memory, config, System::nanoTime));
        leaks.closing(this);
    }

    static CacheRig of(LeakCheck leaks, int pages) {
        return new CacheRig(leaks, pages, 0,
                new CacheConfig(2 * RUN, RUN, Duration.ofSeconds(20), 1000, 0.5, AHEAD));
    }

    /** One that gives up on memory after a moment. */
    static CacheRig impatient(LeakCheck leaks, int pages, double reserve) {
        return new CacheRig(leaks, pages, reserve,
                new CacheConfig(2 * RUN, RUN, Duration.ofMillis(30), 1000, 0.5, AHEAD));
    }

    static ObjectId id(String key) {
        return new ObjectId("store", "account", "bucket", key, null);
    }

    static byte[] random(int seed, int length) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    Received read(ObjectVersion version, long from, long to) {
        return read(version, from, to, Pool.CACHE, source, Received.closing());
    }

    Received readAll(ObjectVersion version) {
        return read(version, 0, version.sizeBytes());
    }

    Received read(ObjectVersion version, long from, long to, Pool fallback, PageSource from2,
            Received sink) {
        start(version, from, to, fallback, from2, sink);
        return sink;
    }

    RangeReader start(ObjectVersion version, long from, long to, Pool fallback, PageSource from2,
            Received sink) {
        SerialExecutor executor = new SerialExecutor(threads);
        RangeReader reader = cache.read(new ReadRequest(version, from, to, fallback), from2,
                executor, sink);
        executor.execute(reader::start);
        return reader;
    }

    static void await(BooleanSupplier condition) {
        long end = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("waited in vain");
            }
            Thread.onSpinWait();
        }
    }

    @Override
    public void close() {
        source.close();
        threads.close();
    }
}
