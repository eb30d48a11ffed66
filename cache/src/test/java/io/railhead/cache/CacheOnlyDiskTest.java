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
import java.util.concurrent.atomic.AtomicLong;
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

    private final class Running {
        final PageMemory memory = leaks.watch(PageMemory.open(
                new MemoryConfig((long) PAGES * PAGE, PAGE, 0, false), slab -> {}));
        final DiskTier disk = leaks.closing(
                hanging.open(PAGE, 16L * PAGE, Duration.ofMillis(200)));
        final ObjectCache cache = leaks.closing(new ObjectCache(memory,
                new CacheConfig(2 * RUN, RUN, Duration.ofSeconds(20), 1000, 0.5, CacheRig.AHEAD),
                () -> System.nanoTime() + ahead.get(),
                new ObjectCache.Lower(disk, id -> "store")));
        final CacheOnlyObjects objects = cache.cacheOnly();

        Running() {
            CacheRig.await(disk::isRecovered);
        }

        CacheOnlyPut put(String key, byte[] bytes) {
            return put(key, bytes, TERMS);
        }

        CacheOnlyPut put(String key, byte[] bytes, CacheOnlyTerms terms) {
            StagedUpload upload = requireNonNull(cache.tryStage(bytes.length, "a"));
            upload.write(ByteBuffer.wrap(bytes));
            ObjectVersion version = new ObjectVersion(id(key), "\"" + etags++ + "\"", "",
                    bytes.length);
            return objects.put(new ObjectMetadata(version, Map.of(), 0, 0), upload, terms)
                    .toCompletableFuture()
                    .join();
        }

        /** Puts objects, each after the disk has let go of the memory of those before. */
        void fill() {
            fill(TERMS);
        }

        void fill(CacheOnlyTerms terms) {
            for (int i = 0; i < COUNT; i++) {
                assertThat(put("k" + i, random(i, OBJECT), terms))
                        .isInstanceOf(CacheOnlyPut.Stored.class);
                CacheRig.await(() -> disk.stats().queuedBytes() == 0);
            }
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
            CacheRig.await(() -> running.disk.stats().queuedBytes() == 0);
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
}
