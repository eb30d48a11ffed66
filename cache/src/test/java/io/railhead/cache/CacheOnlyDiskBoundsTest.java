package io.railhead.cache;

import static io.railhead.cache.CacheOnlyDiskRig.COUNT;
import static io.railhead.cache.CacheOnlyDiskRig.OBJECT;
import static io.railhead.cache.CacheOnlyDiskRig.TERMS;
import static io.railhead.cache.CacheOnlyDiskRig.content;
import static io.railhead.cache.CacheOnlyDiskRig.id;
import static io.railhead.cache.CacheRig.PAGE;
import static io.railhead.cache.CacheRig.random;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.CacheOnlyObjects.Raised;
import io.railhead.cache.disk.HangingDisk;
import io.railhead.cache.memory.LeakCheck;
import java.time.Duration;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The bounds of cache-only objects on disk, and what a tenant leaves to others. */
final class CacheOnlyDiskBoundsTest {
    /** Room for two objects. */
    private static final TenantQuota TWO = new TenantQuota(7L * PAGE, 0);

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private final HangingDisk hanging = new HangingDisk(64 << 20);

    private CacheOnlyDiskRig open() {
        return open(16, 1000, Map.of());
    }

    private CacheOnlyDiskRig open(int queuedPages, long mostObjects,
            Map<String, TenantQuota> tenants) {
        return new CacheOnlyDiskRig(leaks, hanging, System::nanoTime, queuedPages,
                Duration.ofSeconds(60), mostObjects, tenants);
    }

    @AfterEach
    void goOn() {
        hanging.goOn();
    }

    /** Puts an object, once there is room: memory may still wait for the disk. */
    private static void put(CacheOnlyDiskRig running, String tenant, String key, byte[] bytes) {
        CacheRig.await(() -> running.begin(tenant, key, bytes, TERMS)
                .join() instanceof CacheOnlyPut.Stored);
    }

    private CompletableFuture<Raised> raising(CacheOnlyDiskRig running, String key) {
        return running.objects.raise(id(key)).toCompletableFuture();
    }

    @Test
    void aPutIsComparedThreeTimesAtMost() {
        CacheOnlyDiskRig running = open(16, 1000, Map.of("b", TWO));
        put(running, "b", "k0", content("k0"));
        put(running, "b", "k1", content("k1"));
        put(running, "b", "k2", content("k2"));
        running.settle();
        assertThat(running.objects.isOnDisk(id("k0"))).isTrue();
        AtomicInteger raised = new AtomicInteger();
        // It goes to disk again whenever it has come up, but not for ever.
        Runnable goDown = () -> {
            int turn = raised.incrementAndGet();
            if (turn < 10) {
                put(running, "b", "x" + turn, random(turn, OBJECT));
                put(running, "b", "y" + turn, random(turn, OBJECT));
            }
        };
        running.objects.below(new CacheOnlyDisk(running.disk, PAGE,
                (size, tenant) -> new StagedUpload(running.cache.table, size, tenant, goDown)),
                Runnable::run);
        assertThat(running.begin("b", "k0", content("k0"), TERMS).join())
                .isInstanceOf(CacheOnlyPut.Full.class);
        assertThat(raised).hasValue(3);
        assertThat(running.objects.contains(id("k0"))).isTrue();
    }

    @Test
    void aTenantThatReadsFromDiskLeavesRoomToAnother() {
        CacheOnlyDiskRig running = open(64, 1000, Map.of());
        int large = 20 * PAGE;
        assertThat(2L * large).isGreaterThan(running.cache.mostStagedBytes());
        put(running, "a", "a0", random(500, large));
        put(running, "a", "a1", random(501, large));
        put(running, "b", "b0", random(502, large));
        running.fill();
        hanging.hang();
        CompletableFuture<Raised> first = raising(running, "a0");
        assertThat(raising(running, "a1")).isCompletedWithValue(Raised.NO_ROOM);
        CompletableFuture<Raised> others = raising(running, "b0");
        assertThat(others).isNotDone();
        hanging.goOn();
        CompletableFuture.allOf(first, others).join();
        // Memory that objects leave for these two may still wait for the disk.
        CacheRig.await(() -> running.raise("b0") == Raised.SETTLED);
        assertThat(running.objects.isOnDisk(id("b0"))).isFalse();
        assertThat(running.objects.contains(id("b0"))).isTrue();
    }

    @Test
    void nothingIsReadForALeaseBeyondTheTenantsPart() {
        CacheOnlyDiskRig running = open();
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
        CacheOnlyDiskRig running = open(16, 30, Map.of("b", TWO));
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
        CacheOnlyDiskRig running = open();
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
        CacheOnlyDiskRig running = open();
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
