package io.railhead.cache;

import static io.railhead.cache.CacheRig.PAGE;
import static io.railhead.cache.CacheRig.random;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.CacheOnlyObjects.Raised;
import io.railhead.cache.disk.DiskTier;
import io.railhead.cache.disk.EvictedNames;
import io.railhead.cache.disk.HangingDisk;
import io.railhead.cache.memory.LeakCheck;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageSlice;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Cache-only objects that go to disk rather than being evicted, and come back whole. */
final class CacheOnlyDiskTest {
    private static final int PAGES = 128;
    private static final int RUN = 4 * PAGE;
    private static final int OBJECT = 3 * PAGE - 1000;
    /** Twice what memory holds. */
    private static final int COUNT = 80;
    private static final CacheOnlyTerms TERMS = new CacheOnlyTerms(Duration.ofHours(2), true);

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private final AtomicLong ahead = new AtomicLong();
    private final HangingDisk hanging = new HangingDisk(64 << 20);
    private int etags;

    /** Set to hold up the sweeper, which compares objects. */
    private final AtomicReference<@Nullable CountDownLatch> sweeperWaits = new AtomicReference<>();
    private final CountDownLatch sweeperIsHeld = new CountDownLatch(1);

    private long nanos() {
        CountDownLatch end = sweeperWaits.get();
        if (end != null && Thread.currentThread().getName().equals("railhead-cache-sweeper")) {
            sweeperIsHeld.countDown();
            try {
                end.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        return System.nanoTime() + ahead.get();
    }

    private final class Running {
        final PageMemory memory = leaks.watch(PageMemory.open(
                new MemoryConfig((long) PAGES * PAGE, PAGE, 0, false), slab -> {}));
        final DiskTier disk;
        final ObjectCache cache;
        final CacheOnlyObjects objects;

        Running() {
            this(16, Duration.ofMillis(200), 1000, Map.of());
        }

        Running(int queuedPages, Duration hangs, long mostObjects,
                Map<String, TenantQuota> tenants) {
            disk = leaks.closing(hanging.open(PAGE, (long) queuedPages * PAGE, hangs));
            cache = leaks.closing(new ObjectCache(memory,
                    new CacheConfig(2 * RUN, RUN, Duration.ofSeconds(20), mostObjects, 0.5,
                            CacheRig.AHEAD, tenants, Verification.NONE),
                    CacheOnlyDiskTest.this::nanos, new ObjectCache.Lower(disk, id -> "store")));
            objects = cache.cacheOnly();
            CacheRig.await(disk::isRecovered);
        }

        CacheOnlyPut put(String key, byte[] bytes) {
            return put(key, bytes, TERMS);
        }

        CacheOnlyPut put(String key, byte[] bytes, CacheOnlyTerms terms) {
            return begin("a", key, bytes, terms).join();
        }

        CompletableFuture<CacheOnlyPut> begin(String tenant, String key, byte[] bytes,
                CacheOnlyTerms terms) {
            StagedUpload upload = requireNonNull(cache.tryStage(bytes.length, tenant));
            upload.write(ByteBuffer.wrap(bytes));
            ObjectVersion version = new ObjectVersion(id(key), "\"" + etags++ + "\"", "",
                    bytes.length);
            return objects.put(new ObjectMetadata(version, Map.of(), 0, 0), upload, terms)
                    .toCompletableFuture();
        }

        /** Puts objects, each after the disk has let go of the memory of those before. */
        void fill() {
            fill(TERMS);
        }

        void fill(CacheOnlyTerms terms) {
            for (int i = 0; i < COUNT; i++) {
                assertThat(put("k" + i, random(i, OBJECT), terms))
                        .isInstanceOf(CacheOnlyPut.Stored.class);
                settle();
            }
        }

        /** Waits until the disk has taken all that it was given. */
        void settle() {
            CacheRig.await(() -> disk.stats().queuedBytes() == 0
                    && objects.stats().leavingBytes() == 0);
        }

        int held() {
            int held = 0;
            for (int i = 0; i < COUNT; i++) {
                held += objects.contains(id("k" + i)) ? 1 : 0;
            }
            return held;
        }

        /** Returns a key whose object is on disk. */
        String onDisk() {
            CacheRig.await(() -> objects.stats().onDisk() > 0);
            for (int i = 0; i < COUNT; i++) {
                if (objects.isOnDisk(id("k" + i))) {
                    return "k" + i;
                }
            }
            throw new AssertionError("nothing is on disk");
        }

        Raised raise(String key) {
            return objects.raise(id(key)).toCompletableFuture().join();
        }

        /** Null if there is no such object in memory. */
        byte @Nullable [] get(String key) {
            ObjectMetadata held = cache.find(id(key));
            if (held == null) {
                return null;
            }
            @Nullable
            PageSlice[] slices = new @Nullable PageSlice[PAGES];
            int count = cache.tryLease(held.version(), 0, held.version().sizeBytes(), slices);
            assertThat(count).as("pages of a whole object").isPositive();
            ByteBuffer bytes = ByteBuffer.allocate((int) held.version().sizeBytes());
            for (int i = 0; i < count; i++) {
                try (PageSlice slice = requireNonNull(slices[i])) {
                    slice.buffers().forEach(bytes::put);
                }
            }
            return bytes.array();
        }

        void stop() {
            cache.close();
            disk.close();
        }
    }

    private static ObjectId id(String key) {
        return new ObjectId(CacheOnlyObjects.BACKEND, "tenant:a", "kv-a", key, null);
    }

    private static byte[] content(String key) {
        return random(Integer.parseInt(key.substring(1)), OBJECT);
    }

    @AfterEach
    void goOn() {
        hanging.goOn();
    }

    @Test
    void whatMemoryGivesUpIsFoundOnDiskAndComesBackWhole() {
        Running running = new Running();
        running.fill();
        CacheRig.await(() -> running.objects.stats().onDisk() > COUNT / 4);
        assertThat(running.held()).isEqualTo(COUNT);
        List<String> listed = new ArrayList<>();
        running.objects.visit("tenant:a", "kv-a", "",
                held -> listed.add(held.version().object().key()));
        assertThat(listed).hasSize(COUNT);
        for (int i = 0; i < COUNT; i++) {
            assertThat(running.raise("k" + i)).isEqualTo(Raised.SETTLED);
            assertThat(running.get("k" + i)).isEqualTo(random(i, OBJECT));
            running.settle();
        }
        assertThat(running.objects.stats().promoted()).isPositive();
        assertThat(running.objects.stats().evicted()).isZero();
    }

    @Test
    void withoutTheRulesWordObjectsAreEvicted() {
        Running running = new Running();
        running.fill(new CacheOnlyTerms(Duration.ZERO, false));
        assertThat(running.objects.stats().onDisk()).isZero();
        assertThat(running.held()).isLessThan(COUNT);
    }

    @Test
    void aKeyOnDiskIsWrittenOnce() {
        Running running = new Running();
        running.fill();
        String first = running.onDisk();
        assertThat(running.put(first, random(1000, OBJECT))).isInstanceOf(CacheOnlyPut.Other.class);
        String second = running.onDisk();
        assertThat(running.put(second, random(1000, 100))).isInstanceOf(CacheOnlyPut.Other.class);
        assertThat(running.put(second, content(second))).isInstanceOf(CacheOnlyPut.Same.class);
        assertThat(running.raise(second)).isEqualTo(Raised.SETTLED);
        assertThat(running.get(second)).isEqualTo(content(second));
    }

    @Test
    void aDeletedObjectDoesNotComeBackEvenAfterARestart() {
        Running running = new Running();
        running.fill();
        String key = running.onDisk();
        String kept = "k" + (COUNT - 1);
        assertThat(running.objects.delete(id(key))).isTrue();
        assertThat(running.objects.contains(id(key))).isFalse();
        assertThat(running.raise(key)).isEqualTo(Raised.SETTLED);
        assertThat(running.get(key)).isNull();
        running.stop();
        Running again = new Running();
        assertThat(again.objects.contains(id(key))).isFalse();
        assertThat(again.objects.contains(id(kept))).as("a restart is empty").isFalse();
        assertThat(again.put(key, random(1001, OBJECT))).isInstanceOf(CacheOnlyPut.Stored.class);
        assertThat(again.get(key)).isEqualTo(random(1001, OBJECT));
    }

    @Test
    void anObjectThatTheDiskHasLostIsGoneAndItsEndIsTold() {
        Running running = new Running();
        running.fill();
        String key = running.onDisk();
        RemovalQueue removals = requireNonNull(running.objects.removals()
                .trySubscribe("tenant:a", "kv-a", "", 1000, () -> {}));
        RemovalQueue.Taken _ = removals.take();
        assertThat(running.disk.evict(new EvictedNames("kv-a", "", EvictedNames.Kind.PREFIX))
                .join()).isEmpty();
        assertThat(running.objects.contains(id(key))).isFalse();
        // The sweep finds the others without being asked for them.
        CacheRig.await(() -> running.objects.stats().onDisk() == 0);
        assertThat(running.objects.stats().lost()).isPositive();
        assertThat(removals.take().removals())
                .contains(new Removal(key, Removal.Reason.EVICTED));
        removals.close();
        assertThat(running.put(key, random(1002, OBJECT))).isInstanceOf(CacheOnlyPut.Stored.class);
    }

    @Test
    void aHungDiskIsAMissAfterAMoment() {
        Running running = new Running();
        running.fill();
        String key = running.onDisk();
        hanging.hang();
        boolean[] gone = {false};
        CacheRig.await(() -> {
            // The first read only makes the disk's watch doubt it.
            Raised raised = running.raise(key);
            gone[0] = raised == Raised.SETTLED && running.get(key) == null;
            return gone[0];
        });
        assertThat(running.put(key, random(1003, OBJECT))).isInstanceOf(CacheOnlyPut.Stored.class);
    }

    @Test
    void anObjectOnDiskExpires() {
        Running running = new Running();
        running.fill();
        String key = running.onDisk();
        ahead.set(Duration.ofHours(3).toNanos());
        assertThat(running.objects.contains(id(key))).isFalse();
        CacheRig.await(() -> running.objects.stats().objects() == 0);
        assertThat(running.objects.stats().onDisk()).isZero();
    }

    @Test
    void theSamePutIsTheSameThoughTheObjectWentToDiskBeforeItWasCompared() {
        Running running = new Running();
        assertThat(running.put("k0", content("k0"))).isInstanceOf(CacheOnlyPut.Stored.class);
        CountDownLatch end = new CountDownLatch(1);
        sweeperWaits.set(end);
        CacheRig.await(() -> sweeperIsHeld.getCount() == 0);
        CompletableFuture<CacheOnlyPut> again = running.begin("a", "k0", content("k0"), TERMS);
        for (int i = 1; i < COUNT && !running.objects.isOnDisk(id("k0")); i++) {
            assertThat(running.put("k" + i, content("k" + i)))
                    .isInstanceOf(CacheOnlyPut.Stored.class);
            // The sweeper does not run: nothing that it has to do keeps memory in use.
            running.settle();
        }
        assertThat(running.objects.isOnDisk(id("k0"))).isTrue();
        assertThat(again).isNotDone();
        end.countDown();
        sweeperWaits.set(null);
        assertThat(again.join()).isInstanceOf(CacheOnlyPut.Same.class);
    }

    @Test
    void aLargePutIsComparedWithTheObjectOnDisk() {
        Running running = new Running(64, Duration.ofSeconds(20), 1000, Map.of());
        // Both together are more than all uploads may take.
        byte[] large = random(500, 20 * PAGE);
        assertThat(2L * large.length).isGreaterThan(running.cache.mostStagedBytes());
        assertThat(running.put("large", large)).isInstanceOf(CacheOnlyPut.Stored.class);
        running.fill();
        assertThat(running.objects.isOnDisk(id("large"))).isTrue();
        assertThat(running.put("large", large)).isInstanceOf(CacheOnlyPut.Same.class);
    }

    @Test
    void aLeaseCallsBackAnObjectThatIsLeaving() {
        Running running = new Running(16, Duration.ofSeconds(60), 1000, Map.of());
        hanging.hangWrites();
        int count = 0;
        while (running.objects.stats().leavingBytes() == 0) {
            assertThat(running.put("k" + count, random(count, OBJECT)))
                    .isInstanceOf(CacheOnlyPut.Stored.class);
            count++;
        }
        String leaving = "k0";
        assertThat(running.objects.mustRaiseToLease(id(leaving))).isTrue();
        assertThat(running.objects.isOnDisk(id(leaving))).isFalse();
        assertThat(running.raise(leaving)).isEqualTo(Raised.SETTLED);
        assertThat(running.objects.tryLease(id(leaving), Duration.ofMinutes(1))).isTrue();
        hanging.goOn();
        running.settle();
        assertThat(running.objects.isOnDisk(id(leaving))).isFalse();
        assertThat(running.get(leaving)).isEqualTo(content(leaving));
        assertThat(running.objects.stats().bytes())
                .isLessThanOrEqualTo((long) PAGES * PAGE);
    }

    @Test
    void nothingIsReadForALeaseBeyondTheTenantsPart() {
        Running running = new Running();
        running.fill();
        String key = running.onDisk();
        assertThat(running.objects.mustRaiseToLease(id(key))).isTrue();
        for (int i = 0; i < COUNT; i++) {
            if (!running.objects.isOnDisk(id("k" + i))) {
                boolean _ = running.objects.tryLease(id("k" + i), Duration.ofMinutes(1));
            }
        }
        assertThat(running.objects.stats().leasesRefused()).isPositive();
        assertThat(running.objects.mustRaiseToLease(id(key))).isFalse();
    }

    @Test
    void atTheBoundOfTheIndexOneTenantLeavesAnothersObjectsOnDisk() {
        // Two of four objects of the other tenant go to disk.
        Running running = new Running(16, Duration.ofSeconds(20), 30,
                Map.of("b", new TenantQuota(7L * PAGE, 0)));
        for (int i = 0; i < 4; i++) {
            assertThat(running.begin("b", "b" + i, random(i, OBJECT), TERMS).join())
                    .isInstanceOf(CacheOnlyPut.Stored.class);
            running.settle();
        }
        assertThat(running.objects.stats().onDisk()).isEqualTo(2);
        for (int i = 0; i < 60; i++) {
            assertThat(running.put("k" + i, random(i, 1000)))
                    .isInstanceOf(CacheOnlyPut.Stored.class);
        }
        assertThat(running.objects.stats().objects()).isEqualTo(30);
        for (int i = 0; i < 4; i++) {
            assertThat(running.objects.contains(id("b" + i))).as("b%s", i).isTrue();
        }
    }

    @Test
    void aReadThatFailsAtItsStartIsNotWaitedForForEver() {
        Running running = new Running();
        running.fill();
        String key = running.onDisk();
        running.objects.below(new CacheOnlyDisk(running.disk, PAGE, (size, tenant) -> {
            throw new IllegalStateException("no memory at all");
        }), Runnable::run);
        assertThat(running.raise(key)).isEqualTo(Raised.NO_ROOM);
        assertThat(running.raise(key)).isEqualTo(Raised.NO_ROOM);
        assertThat(running.objects.contains(id(key))).isTrue();
    }

    @Test
    void objectsThatLeaveTakeNoMoreMemoryThanTwoQueuesOfTheDisk() {
        Running running = new Running();
        Queue<Runnable> ends = new ConcurrentLinkedQueue<>();
        // The disk is quick, and the ends of the moves are slow.
        running.objects.below(new CacheOnlyDisk(running.disk, PAGE, (size, tenant) -> null),
                ends::add);
        for (int i = 0; i < COUNT; i++) {
            CacheOnlyPut _ = running.put("k" + i, random(i, OBJECT));
            CacheRig.await(() -> running.disk.stats().queuedBytes() == 0);
            assertThat(running.objects.stats().leavingBytes())
                    .isLessThanOrEqualTo(2L * 16 * PAGE);
        }
        assertThat(running.objects.stats().leavingBytes()).isGreaterThan(16L * PAGE);
        ends.forEach(Runnable::run);
        assertThat(running.objects.stats().leavingBytes()).isZero();
        assertThat(running.objects.stats().onDisk()).isPositive();
    }
}
