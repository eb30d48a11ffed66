package io.railhead.cache;

import static io.railhead.cache.CacheRig.PAGE;
import static io.railhead.cache.CacheRig.RUN;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.disk.DiskTier;
import io.railhead.cache.disk.HangingDisk;
import io.railhead.cache.disk.WrappingKeys;
import io.railhead.cache.memory.LeakCheck;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageMemory.Pool;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Evictions and erasures while pages are on their way between memory and disk. The steps of an
 * eviction run in the middle of reads and writes of the disk, which a seed chooses. The store has
 * other bytes from then on, under the same version: so a page that escapes is seen.
 *
 * <p> Long, since it failed twice in some 40 runs before pages that are on their way were kept off
 * the disks: more runs have to show that none is left.
 */
@Tag("long")
final class TierRaceTest {
    private static final int PAGES = 48;
    private static final int OBJECT = 4 * PAGE - 1000;
    private static final int OBJECTS = 24;
    private static final int READERS = 3;
    /** Every other object is evicted. */
    private static final int EVICTED_STEP = 2;
    private static final Duration HANGS = Duration.ofSeconds(20);

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private final MemorySource source = new MemorySource();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<ObjectVersion> versions = new ArrayList<>();
    private final HangingDisk image = new HangingDisk(64 << 20);
    private volatile boolean over;

    /** A memory over the disk. */
    private final class Running {
        final PageMemory memory = leaks.watch(PageMemory.open(
                new MemoryConfig((long) PAGES * PAGE, PAGE, 0, false), slab -> {}));
        final DiskTier disk;
        final ObjectCache cache;

        Running(@Nullable WrappingKeys keys) {
            disk = leaks.closing(image.open(PAGE, 16L * PAGE, HANGS, keys));
            cache = leaks.closing(new ObjectCache(memory,
                    new CacheConfig(2 * RUN, RUN, Duration.ofSeconds(20), 1000, 0.5,
                            CacheRig.AHEAD),
                    System::nanoTime, new ObjectCache.Lower(disk, id -> "store")));
            CacheRig.await(disk::isRecovered);
        }

        byte[] read(int number) {
            Received sink = Received.closing();
            SerialExecutor executor = new SerialExecutor(threads);
            ObjectVersion version = versions.get(number);
            RangeReader reader = cache.read(
                    new ReadRequest(version, 0, version.sizeBytes(), Pool.CACHE), source,
                    executor, sink);
            executor.execute(reader::start);
            return sink.awaitBytes();
        }

        void awaitQuiet() {
            source.awaitAnswered();
            CacheRig.await(() -> disk.stats().queuedBytes() == 0);
        }
    }

    @AfterEach
    void close() {
        over = true;
        image.onCall(() -> {});
        source.close();
        threads.close();
    }

    private static byte[] before(int number) {
        return CacheRig.random(number, OBJECT);
    }

    private static byte[] after(int number) {
        return CacheRig.random(~number, OBJECT);
    }

    private static boolean isEvicted(int number) {
        return number % EVICTED_STEP == 0;
    }

    /** Names end in a letter, so that none is a prefix of another one. */
    private void put(int number, byte[] bytes) {
        ObjectVersion version = source.put(
                CacheRig.id((isEvicted(number) ? "evicted-" : "stays-") + number + "x"), bytes,
                "\"etag-" + number + "\"");
        if (versions.size() == number) {
            versions.add(version);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
    void noPageEscapesAnEviction(long seed) throws Exception {
        Running running = new Running(null);
        CacheControl control = running.cache.control();
        Selection selection = new Selection("bucket", "evicted-", Selection.Kind.PREFIX);
        List<CompletableFuture<List<String>>> records = new ArrayList<>();
        // As the admin call does.
        Deque<BooleanSupplier> steps = new ArrayDeque<>();
        for (int i = 0; i < 2; i++) {
            steps.add(() -> control.evict(selection) != null);
            steps.add(() -> records.add(control.evictBelow(selection)));
        }
        steps.add(() -> control.evict(selection) != null);
        run(running, seed, steps);
        for (CompletableFuture<List<String>> each : records) {
            assertThat(each.join()).isEmpty();
        }
        requireNew(running, seed);
        running.cache.close();
        running.disk.close();
        requireNew(new Running(null), seed);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void noPageEscapesAnErasure(long seed) throws Exception {
        WrappingKeys keys = WrappingKeys.parse("11".repeat(32));
        Running running = new Running(keys);
        CacheControl control = running.cache.control();
        List<CompletableFuture<List<String>>> erased = new ArrayList<>();
        Deque<BooleanSupplier> steps = new ArrayDeque<>();
        for (int i = 0; i < 2; i++) {
            // The admin call waits for the disk before it looks at memory again.
            steps.add(() -> erased.stream().allMatch(CompletableFuture::isDone)
                    && control.evictTenant("") != null);
            steps.add(() -> erased.add(control.eraseBelow("")));
        }
        steps.add(() -> erased.stream().allMatch(CompletableFuture::isDone)
                && control.evictTenant("") != null);
        run(running, seed, steps);
        for (CompletableFuture<List<String>> each : erased) {
            assertThat(each.join()).isEmpty();
        }
        requireNew(running, seed);
        running.cache.close();
        running.disk.close();
        requireNew(new Running(keys), seed);
    }

    /** Reads by several threads, while the steps run in the middle of the disk's calls. */
    private void run(Running running, long seed, Deque<BooleanSupplier> steps) throws Exception {
        Random random = new Random(seed);
        for (int i = 0; i < OBJECTS; i++) {
            put(i, before(i));
        }
        for (int pass = 0; pass < 2; pass++) {
            for (int i = 0; i < OBJECTS; i++) {
                assertThat(running.read(i)).isEqualTo(before(i));
                running.awaitQuiet();
            }
        }
        assertThat(running.disk.stats().pages()).as("pages on disk").isPositive();
        for (int i = 0; i < OBJECTS; i += EVICTED_STEP) {
            put(i, after(i));
        }
        int[] calls = {1 + random.nextInt(20)};
        image.onCall(() -> {
            synchronized (steps) {
                if (calls[0]-- <= 0 && !steps.isEmpty() && steps.getFirst().getAsBoolean()) {
                    steps.removeFirst();
                    calls[0] = random.nextInt(20);
                }
            }
        });
        List<Future<?>> readers = new ArrayList<>();
        for (int i = 0; i < READERS; i++) {
            Random own = new Random(seed * READERS + i);
            readers.add(threads.submit(() -> {
                while (!over) {
                    byte[] _ = running.read(own.nextInt(OBJECTS));
                }
            }));
        }
        CacheRig.await(() -> {
            synchronized (steps) {
                return steps.isEmpty();
            }
        });
        over = true;
        for (Future<?> each : readers) {
            each.get();
        }
        image.onCall(() -> {});
        running.awaitQuiet();
    }

    /** Neither memory nor disk has a page from before, also once they have changed places. */
    private void requireNew(Running running, long seed) {
        for (int pass = 0; pass < 2; pass++) {
            for (int i = 0; i < OBJECTS; i++) {
                byte[] read = running.read(i);
                assertThat(Arrays.equals(read, isEvicted(i) ? after(i) : before(i)))
                        .as("seed " + seed + ", object " + i + ", pass " + pass)
                        .isTrue();
                running.awaitQuiet();
            }
        }
    }
}
