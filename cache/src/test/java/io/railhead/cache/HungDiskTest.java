package io.railhead.cache;

import static io.railhead.cache.CacheRig.PAGE;
import static io.railhead.cache.CacheRig.RUN;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.disk.DiskTier;
import io.railhead.cache.disk.HangingDisk;
import io.railhead.cache.memory.LeakCheck;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageMemory.Pool;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A disk that hangs while some readers read what memory has, and others what it has not: no read
 * fails, and little memory is kept. {@code -Drailhead.hang.seconds=60 -Drailhead.hang.rounds=5}
 * hangs for longer, and says how long hits took meanwhile.
 */
final class HungDiskTest {
    private static final int SECONDS = Integer.getInteger("railhead.hang.seconds", 2);
    private static final int ROUNDS = Integer.getInteger("railhead.hang.rounds", 1);
    private static final Duration HANGS = SECONDS > 10
            ? Duration.ofSeconds(1)
            : Duration.ofMillis(200);
    private static final int PAGES = 96;
    private static final int OBJECT = 8 * PAGE - 1000;
    private static final int HOT = 3;
    private static final int OBJECTS = 32;
    private static final int COLD_READERS = 3;
    private static final long PAUSE_NANOS = 20_000_000;
    private static final long QUEUE = 8L * PAGE;
    /** As many threads read from a disk. */
    private static final int LENT_PAGES = 8;

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private final MemorySource source = new MemorySource();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<ObjectVersion> versions = new ArrayList<>();
    private final List<byte[]> contents = new ArrayList<>();
    private final HangingDisk hanging = new HangingDisk(64 << 20);
    private final PageMemory memory = leaks.watch(PageMemory.open(
            new MemoryConfig((long) PAGES * PAGE, PAGE, 0, false), slab -> {}));
    private final DiskTier disk = leaks.closing(hanging.open(PAGE, QUEUE, HANGS));
    private final ObjectCache cache = leaks.closing(new ObjectCache(memory,
            new CacheConfig(2 * RUN, RUN, Duration.ofSeconds(20), 1000, 0.5, CacheRig.AHEAD),
            System::nanoTime, new ObjectCache.Lower(disk, id -> "store")));
    private volatile boolean over;

    @AfterEach
    void close() {
        hanging.goOn();
        source.close();
        threads.close();
    }

    @Test
    void noReadFailsAndLittleMemoryIsKept() throws Exception {
        CacheRig.await(disk::isRecovered);
        for (int i = 0; i < OBJECTS; i++) {
            contents.add(CacheRig.random(i, OBJECT));
            versions.add(source.put(CacheRig.id("key-" + i), contents.get(i),
                    "\"etag-" + i + "\""));
        }
        for (int pass = 0; pass < 2; pass++) {
            for (int i = 0; i < OBJECTS; i++) {
                long _ = read(i);
                CacheRig.await(() -> disk.stats().queuedBytes() == 0);
            }
        }
        List<Future<?>> cold = new ArrayList<>();
        for (int i = 0; i < COLD_READERS; i++) {
            Random random = new Random(i);
            cold.add(threads.submit(() -> {
                while (!over) {
                    long _ = read(HOT + random.nextInt(OBJECTS - HOT));
                    // At their own pace a faster store would take the processors from hits.
                    LockSupport.parkNanos(PAUSE_NANOS);
                }
            }));
        }
        double[] ratios = new double[ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
            long readBefore = disk.stats().readPages();
            double calm = hits(SECONDS / 2.0);
            assertThat(disk.stats().readPages()).as("pages read from disk")
                    .isGreaterThan(readBefore);
            hanging.hang();
            double hung = hits(SECONDS);
            assertThat(hanging.hanging()).as("calls that hang").isPositive();
            hanging.goOn();
            CacheRig.await(() -> disk.stats().brokenVolumes() == 0);
            ratios[round] = hung - 1.5 * calm;
            System.out.printf("round %d: p99 of hits %.3f ms, while the disk hangs %.3f ms%n",
                    round + 1, calm, hung);
        }
        over = true;
        for (Future<?> each : cold) {
            each.get();
        }
        source.awaitAnswered();
        Arrays.sort(ratios);
        System.out.printf("median of p99 while it hangs - 1.5 * p99: %.3f ms%n",
                ratios[ROUNDS / 2]);
        assertThat(cache.stats().fillFailures()).isZero();
        assertThat(disk.stats().hangs()).isPositive();
    }

    /** Reads what memory has; returns the 99th percentile in ms. */
    private double hits(double seconds) {
        List<Long> took = new ArrayList<>();
        long end = System.nanoTime() + (long) (seconds * 1e9);
        for (int i = 0; System.nanoTime() - end < 0; i++) {
            ObjectVersion version = versions.get(i % HOT);
            boolean held = cache.holds(version, 0, version.sizeBytes());
            long nanos = read(i % HOT);
            if (held) {
                took.add(nanos);
            }
            LockSupport.parkNanos(PAUSE_NANOS / 10);
            long kept = memory.stats().condemnedBytes();
            assertThat(kept).as("memory of pages that nobody reads")
                    .isLessThanOrEqualTo(QUEUE + (long) LENT_PAGES * PAGE
                            + (COLD_READERS + 1) * 2L * RUN);
        }
        took.sort(null);
        return took.get((int) (took.size() * 0.99)) / 1e6;
    }

    /** Returns how long it took. */
    private long read(int number) {
        Received sink = Received.closing();
        SerialExecutor executor = new SerialExecutor(threads);
        ObjectVersion version = versions.get(number);
        RangeReader reader = cache.read(
                new ReadRequest(version, 0, version.sizeBytes(), Pool.CACHE), source, executor,
                sink);
        long begun = System.nanoTime();
        executor.execute(reader::start);
        byte[] bytes = sink.awaitBytes();
        long took = System.nanoTime() - begun;
        assertThat(Arrays.equals(bytes, contents.get(number))).as("object %s", number).isTrue();
        return took;
    }
}
