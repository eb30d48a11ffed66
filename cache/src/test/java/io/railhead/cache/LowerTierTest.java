package io.railhead.cache;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.disk.DiskConfig;
import io.railhead.cache.disk.DiskTier;
import io.railhead.cache.disk.VersionName;
import io.railhead.cache.memory.LeakCheck;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.Page;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageMemory.Pool;
import io.railhead.os.RequiresDirectFiles;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A small memory over a disk, which has what memory gave up. */
@RequiresDirectFiles
final class LowerTierTest {
    private static final int PAGE = 64 << 10;
    private static final int RUN = 4 * PAGE;
    private static final int PAGES = 64;
    private static final int OBJECT = 8 * PAGE - 1000;

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    @TempDir
    Path folder;

    private final MemorySource source = new MemorySource();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final List<ObjectVersion> versions = new ArrayList<>();
    private @Nullable String store = "store-1";
    private volatile Consumer<ObjectId> onStore = id -> {};

    @AfterEach
    void close() {
        source.close();
        threads.close();
    }

    private final class Running {
        final PageMemory memory = leaks.watch(PageMemory.open(
                new MemoryConfig((long) PAGES * PAGE, PAGE, 0, false), slab -> {}));
        final DiskTier disk = leaks.closing(DiskTier.open(
                new DiskConfig(List.of(folder.resolve("disk").toString()), 256L << 20, 0, 1, PAGE,
                        8L * PAGE, Duration.ofSeconds(5)),
                System::nanoTime));
        final ObjectCache cache = leaks.closing(new ObjectCache(memory,
                new CacheConfig(2 * RUN, RUN, Duration.ofSeconds(20), 1000, 0.5, CacheRig.AHEAD),
                System::nanoTime, new ObjectCache.Lower(disk, id -> {
                    onStore.accept(id);
                    return store;
                })));

        Running() {
            CacheRig.await(disk::isRecovered);
        }

        byte[] read(ObjectVersion version) {
            return start(version, source).awaitBytes();
        }

        Received start(ObjectVersion version, PageSource from) {
            Received sink = Received.closing();
            SerialExecutor executor = new SerialExecutor(threads);
            RangeReader reader = cache.read(
                    new ReadRequest(version, 0, version.sizeBytes(), Pool.CACHE), from, executor,
                    sink);
            executor.execute(reader::start);
            return sink;
        }

        void stop() {
            source.awaitAnswered();
            cache.close();
            disk.close();
        }
    }

    private void putObjects(int count) {
        for (int i = 0; i < count; i++) {
            versions.add(source.put(CacheRig.id("key-" + i), CacheRig.random(i, OBJECT),
                    "\"etag-" + i + "\""));
        }
    }

    private void readAll(Running running) {
        for (int i = 0; i < versions.size(); i++) {
            assertThat(running.read(versions.get(i))).isEqualTo(CacheRig.random(i, OBJECT));
            // A queue of a part of the room for fills is full at once where the store is memory.
            source.awaitAnswered();
            CacheRig.await(() -> running.disk.stats().queuedBytes() == 0);
        }
    }

    /** Reads twice as much as fits, and waits until the disk has what memory gave up. */
    private Running filled() {
        putObjects(16);
        Running running = new Running();
        readAll(running);
        source.awaitAnswered();
        CacheRig.await(() -> running.disk.stats().queuedBytes() == 0);
        assertThat(running.disk.stats().writtenPages()).isPositive();
        return running;
    }

    @Test
    void whatMemoryGaveUpIsServedFromDisk() {
        Running running = filled();
        long asked = bytesAsked();
        readAll(running);
        long again = bytesAsked() - asked;
        // Single pages may be dropped while many are given up at once.
        assertThat(again).isLessThan(16L * OBJECT / 8);
        assertThat(running.disk.stats().readPages()).isPositive();
        assertThat(running.disk.stats().corruptPages()).isZero();
    }

    /** Pages that a fill evicted for its own memory are not on disk: they are fetched once more. */
    @Test
    void afterARestartNothingThatTheDiskHasIsFetched() {
        Running running = filled();
        readAll(running);
        CacheRig.await(() -> running.disk.stats().queuedBytes() == 0);
        running.stop();
        long asked = bytesAsked();
        Running again = new Running();
        long held = again.disk.stats().pages();
        assertThat(held).isGreaterThan(16 * 8 / 2);
        assertThat(again.cache.mayBeBelow(CacheRig.id("key-3"))).isTrue();
        assertThat(again.cache.mayBeBelow(CacheRig.id("another"))).isFalse();
        readAll(again);
        assertThat(again.disk.stats().readPages()).isGreaterThanOrEqualTo(held);
        assertThat(bytesAsked() - asked).isLessThanOrEqualTo((16 * 8 - held) * PAGE);
    }

    @Test
    void anotherStoreUnderTheSameNameFindsNothing() {
        Running running = filled();
        running.stop();
        store = "store-2";
        Running again = new Running();
        assertThat(again.cache.mayBeBelow(CacheRig.id("key-3"))).isFalse();
        int before = source.fetches().size();
        readAll(again);
        assertThat(source.fetches().size()).isGreaterThan(before);
        assertThat(again.disk.stats().readPages()).isZero();
    }

    @Test
    void anObjectWithoutAStoreIsNotKept() {
        store = null;
        putObjects(16);
        Running running = new Running();
        readAll(running);
        running.stop();
        assertThat(running.disk.stats().writtenPages()).isZero();
    }

    @Test
    void anotherVersionIsNeverServedFromDisk() {
        Running running = filled();
        for (int i = 0; i < 16; i++) {
            versions.set(i, source.put(CacheRig.id("key-" + i), CacheRig.random(i, OBJECT),
                    "\"new-" + i + "\""));
        }
        long read = running.disk.stats().readPages();
        readAll(running);
        assertThat(running.disk.stats().readPages()).isEqualTo(read);
    }

    @Test
    void manyReadersOfAPageOnDiskReadItOnce() throws InterruptedException {
        Running running = filled();
        running.stop();
        Running again = new Running();
        List<Thread> readers = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            readers.add(Thread.ofPlatform()
                    .start(() -> assertThat(again.read(versions.get(0)))
                            .isEqualTo(CacheRig.random(0, OBJECT))));
        }
        for (Thread reader : readers) {
            reader.join();
        }
        assertThat(again.disk.stats().readPages()).isEqualTo(8);
        assertThat(again.cache.stats().pageMisses()).isEqualTo(8);
    }

    @Test
    void pagesKeepTheChecksumOfTheirFill() {
        Running running = filled();
        running.stop();
        Running again = new Running();
        readAll(again);
        assertThat(again.cache.verified().corruptAtRead()).isZero();
        assertThat(again.disk.stats().readPages()).isPositive();
        assertThat(again.disk.stats().corruptPages()).isZero();
    }

    @Test
    void aTruncatedDiskFallsToTheStoreWithinTheClaim() throws IOException {
        Running running = filled();
        running.stop();
        Running again = new Running();
        try (RandomAccessFile file = new RandomAccessFile(folder.resolve("disk").toFile(), "rw")) {
            file.setLength(1 << 20);
        }
        readAll(again);
        assertThat(again.disk.stats().errors()).isPositive();
        assertThat(again.cache.stats().fillFailures()).isZero();
    }

    @Test
    void flippedBitsFallToTheStoreWithinTheClaim() throws IOException {
        Running running = filled();
        running.stop();
        Running again = new Running();
        try (RandomAccessFile file = new RandomAccessFile(folder.resolve("disk").toFile(), "rw")) {
            // One bit in each other page.
            for (long at = 1 << 20; at < (1 << 20) + 128L * PAGE; at += 2 * PAGE) {
                file.seek(at);
                int was = file.read();
                file.seek(at);
                file.write(was ^ 4);
            }
        }
        readAll(again);
        assertThat(again.disk.stats().corruptPages()).isPositive();
        assertThat(again.disk.stats().errors()).isZero();
        assertThat(again.cache.stats().fillFailures()).isZero();
    }

    @Test
    void pagesFromDiskAreComparedWithTheStoresChecksum() {
        Running running = filled();
        running.stop();
        Running again = new Running();
        ObjectVersion version = versions.get(0);
        PageSource checked = new PageSource() {
            @Override
            public void fetch(ObjectVersion wanted, long offset, long length, Sink sink) {
                source.fetch(wanted, offset, length, sink);
            }

            @Override
            public WholeChecksum checksum(ObjectVersion wanted) {
                return ALWAYS_WRONG;
            }
        };
        Received sink = again.start(version, checked);
        assertThat(requireNonNull(sink.awaitEnd().cause()).reason())
                .isEqualTo(FillException.Reason.CORRUPT);
        // Nothing of the version is left on disk.
        CacheRig.await(() -> again.disk.stats().queuedBytes() == 0);
        int before = source.fetches().size();
        // A reader may still join a fill that is compared with the wrong checksums.
        CacheRig.await(() -> again.start(version, source).awaitEnd().cause() == null);
        assertThat(again.read(version)).isEqualTo(CacheRig.random(0, OBJECT));
        assertThat(source.fetches().size()).isGreaterThan(before);
    }

    @Test
    void refutedBytesDoNotComeBack() {
        Running running = filled();
        ObjectVersion version = versions.get(0);
        running.cache.table.corrupt(version,
                requireNonNull(running.cache.table.sums().of(version, ALWAYS_WRONG)));
        CacheRig.await(() -> running.disk.stats().queuedBytes() == 0);
        int before = source.fetches().size();
        running.read(version);
        assertThat(source.fetches().size()).isGreaterThan(before);
    }

    /** The eviction stops where it asks for the page's store, while its bytes are refuted. */
    @Test
    void bytesThatAreRefutedWhileTheirPageIsGivenUpAreNotKept() throws InterruptedException {
        putObjects(16);
        AtomicReference<@Nullable ObjectVersion> refuted = new AtomicReference<>();
        AtomicReference<@Nullable Thread> refuting = new AtomicReference<>();
        Running[] running = new Running[1];
        onStore = id -> {
            if (refuting.get() == null && isGivingUp()) {
                ObjectVersion version = versions.get(numberOf(id));
                refuted.set(version);
                Thread thread = new Thread(() -> running[0].cache.table.corrupt(version,
                        requireNonNull(
                                running[0].cache.table.sums().of(version, ALWAYS_WRONG))));
                refuting.set(thread);
                thread.start();
                try {
                    thread.join(500);
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
        };
        running[0] = new Running();
        // Evictions begin: the first page that is given up is refuted meanwhile.
        for (int i = 0; refuting.get() == null && i < versions.size(); i++) {
            assertThat(running[0].read(versions.get(i))).isEqualTo(CacheRig.random(i, OBJECT));
            source.awaitAnswered();
        }
        requireNonNull(refuting.get()).join();
        CacheRig.await(() -> running[0].disk.stats().queuedBytes() == 0);
        ObjectVersion version = requireNonNull(refuted.get());
        assertThat(isOnDisk(running[0], version)).isFalse();
    }

    /** A page is removed between its look at the epochs and its write. */
    @Test
    void aPageThatIsRemovedWhileItIsOfferedIsNotKept() {
        Running running = new Running();
        ObjectVersion version = new ObjectVersion(CacheRig.id("key"), "\"1\"", "", 2L * PAGE);
        AtomicReference<Runnable> onLook = new AtomicReference<>(() -> {});
        LowerTier lower = new LowerTier(running.disk, running.cache.writes(), id -> {
            onLook.getAndSet(() -> {}).run();
            return requireNonNull(store);
        }, PAGE);
        for (int i = 0; i < 2; i++) {
            PageKey key = new PageKey(version, i);
            Page page = requireNonNull(running.memory.tryAllocate(new int[]{PAGE}, Pool.CACHE))
                    .getFirst();
            page.write(ByteBuffer.allocate(PAGE));
            page.publish();
            if (i == 0) {
                onLook.set(() -> lower.forget(key));
            }
            lower.demote(key, page);
            assertThat(page.condemn()).isTrue();
            CacheRig.await(() -> running.disk.stats().queuedBytes() == 0);
            assertThat(isOnDisk(running, version)).as("page %s", i).isEqualTo(i == 1);
        }
    }

    /** Memory knows none of these objects' versions: nobody told it any metadata. */
    @Test
    void evictedObjectsAreGoneFromDiskForGood() {
        Running running = filled();
        Selection selection = new Selection(versions.get(3).object().bucket(), "key-3",
                Selection.Kind.KEY);
        assertThat(isOnDisk(running, versions.get(3))).isTrue();
        running.cache.control().evict(selection);
        assertThat(running.cache.control().evictBelow(selection).join()).isEmpty();
        assertThat(isOnDisk(running, versions.get(3))).isFalse();
        assertThat(isOnDisk(running, versions.get(2))).isTrue();
        running.stop();
        Running again = new Running();
        assertThat(isOnDisk(again, versions.get(3))).isFalse();
        assertThat(isOnDisk(again, versions.get(2))).isTrue();
        long asked = bytesAsked();
        assertThat(again.read(versions.get(3))).isEqualTo(CacheRig.random(3, OBJECT));
        assertThat(bytesAsked() - asked).isEqualTo(OBJECT);
    }

    @Test
    void refutedBytesDoNotComeBackAfterARestart() {
        Running running = filled();
        ObjectVersion version = versions.get(0);
        running.cache.table.corrupt(version,
                requireNonNull(running.cache.table.sums().of(version, ALWAYS_WRONG)));
        running.stop();
        assertThat(isOnDisk(new Running(), version)).isFalse();
    }

    @Test
    void whatMemoryHasAtTheEndIsThereAfterARestart() {
        putObjects(2);
        Running running = new Running();
        readAll(running);
        assertThat(running.disk.stats().writtenPages()).isZero();
        running.stop();
        long asked = bytesAsked();
        readAll(new Running());
        assertThat(bytesAsked()).isEqualTo(asked);
    }

    private boolean isOnDisk(Running running, ObjectVersion version) {
        ObjectId id = version.object();
        DiskTier.Held held = running.disk.held(new VersionName(requireNonNull(store),
                id.namespace(), id.bucket(), id.key(), "", version.etag(), version.versionId(),
                version.sizeBytes()));
        return LongStream.range(0, Math.ceilDiv(version.sizeBytes(), (long) PAGE))
                .anyMatch(page -> held.holder(page) != DiskTier.NOBODY);
    }

    private static boolean isGivingUp() {
        return StackWalker.getInstance()
                .walk(frames -> frames.anyMatch(
                        frame -> frame.getMethodName().equals("demote")));
    }

    private static int numberOf(ObjectId id) {
        return Integer.parseInt(id.key().substring("key-".length()));
    }

    private static final WholeChecksum ALWAYS_WRONG = new WholeChecksum() {
        @Override
        public java.util.zip.Checksum part() {
            return new java.util.zip.CRC32C();
        }

        @Override
        public boolean isOf(long[] sums, long partBytes, long lastBytes) {
            return false;
        }
    };

    private long bytesAsked() {
        return source.fetches().stream().mapToLong(MemorySource.Fetch::length).sum();
    }
}
