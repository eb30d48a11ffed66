package io.railhead.cache;

import static io.railhead.cache.CacheOnlyDiskRig.COUNT;
import static io.railhead.cache.CacheOnlyDiskRig.OBJECT;
import static io.railhead.cache.CacheOnlyDiskRig.PAGES;
import static io.railhead.cache.CacheOnlyDiskRig.TERMS;
import static io.railhead.cache.CacheOnlyDiskRig.content;
import static io.railhead.cache.CacheOnlyDiskRig.id;
import static io.railhead.cache.CacheRig.PAGE;
import static io.railhead.cache.CacheRig.random;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.CacheOnlyObjects.Raised;
import io.railhead.cache.disk.EvictedNames;
import io.railhead.cache.disk.HangingDisk;
import io.railhead.cache.memory.LeakCheck;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Cache-only objects that go to disk rather than being evicted, and come back whole. */
final class CacheOnlyDiskTest {
    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private final AtomicLong ahead = new AtomicLong();
    private final HangingDisk hanging = new HangingDisk(64 << 20);

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

    private CacheOnlyDiskRig open() {
        return open(16, Duration.ofSeconds(20), 1000, Map.of());
    }

    private CacheOnlyDiskRig open(int queuedPages, Duration hangs, long mostObjects,
            Map<String, TenantQuota> tenants) {
        return new CacheOnlyDiskRig(leaks, hanging, this::nanos, queuedPages, hangs, mostObjects,
                tenants);
    }

    @AfterEach
    void goOn() {
        hanging.goOn();
    }

    @Test
    void whatMemoryGivesUpIsFoundOnDiskAndComesBackWhole() {
        CacheOnlyDiskRig running = open();
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
        CacheOnlyDiskRig running = open();
        running.fill(new CacheOnlyTerms(Duration.ZERO, false));
        assertThat(running.objects.stats().onDisk()).isZero();
        assertThat(running.held()).isLessThan(COUNT);
    }

    @Test
    void aKeyOnDiskIsWrittenOnce() {
        CacheOnlyDiskRig running = open();
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
        CacheOnlyDiskRig running = open();
        running.fill();
        String key = running.onDisk();
        String kept = "k" + (COUNT - 1);
        assertThat(running.objects.delete(id(key))).isTrue();
        assertThat(running.objects.contains(id(key))).isFalse();
        assertThat(running.raise(key)).isEqualTo(Raised.SETTLED);
        assertThat(running.get(key)).isNull();
        running.stop();
        CacheOnlyDiskRig again = open();
        assertThat(again.objects.contains(id(key))).isFalse();
        assertThat(again.objects.contains(id(kept))).as("a restart is empty").isFalse();
        assertThat(again.put(key, random(1001, OBJECT))).isInstanceOf(CacheOnlyPut.Stored.class);
        assertThat(again.get(key)).isEqualTo(random(1001, OBJECT));
    }

    @Test
    void anObjectThatTheDiskHasLostIsGoneAndItsEndIsTold() {
        CacheOnlyDiskRig running = open();
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
        CacheOnlyDiskRig running = open(16, Duration.ofSeconds(1), 1000, Map.of());
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
        CacheOnlyDiskRig running = open();
        running.fill();
        String key = running.onDisk();
        ahead.set(Duration.ofHours(3).toNanos());
        assertThat(running.objects.contains(id(key))).isFalse();
        CacheRig.await(() -> running.objects.stats().objects() == 0);
        assertThat(running.objects.stats().onDisk()).isZero();
    }

    @Test
    void theSamePutIsTheSameThoughTheObjectWentToDiskBeforeItWasCompared() {
        CacheOnlyDiskRig running = open();
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
        CacheOnlyDiskRig running = open(64, Duration.ofSeconds(20), 1000, Map.of());
        // Both together are more than all uploads may take.
        byte[] large = random(500, 20 * PAGE);
        assertThat(2L * large.length).isGreaterThan(running.cache.mostStagedBytes());
        assertThat(running.put("large", large)).isInstanceOf(CacheOnlyPut.Stored.class);
        running.fill();
        assertThat(running.objects.isOnDisk(id("large"))).isTrue();
        // Memory that objects leave for it may still wait for the disk.
        CacheRig.await(() -> running.put("large", large) instanceof CacheOnlyPut.Same);
    }

    @Test
    void aLeaseCallsBackAnObjectThatIsLeaving() {
        CacheOnlyDiskRig running = open(16, Duration.ofSeconds(60), 1000, Map.of());
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
    void anObjectWithAPageThatCannotBeReadIsGone() {
        CacheOnlyDiskRig running = open();
        running.fill();
        String key = running.onDisk();
        hanging.failReads(true);
        assertThat(running.raise(key)).isEqualTo(Raised.SETTLED);
        hanging.failReads(false);
        assertThat(running.objects.contains(id(key))).isFalse();
        assertThat(running.objects.stats().lost()).isEqualTo(1);
        assertThat(running.put(key, random(1004, OBJECT))).isInstanceOf(CacheOnlyPut.Stored.class);
    }

    @Test
    void aDiskThatIsLeftAloneLosesOnlyWhatIsLookedUp() {
        CacheOnlyDiskRig running = open(16, Duration.ofSeconds(1), 1000, Map.of());
        running.fill();
        String key = running.onDisk();
        hanging.hang();
        Raised _ = running.raise(key);
        // The disk is left alone a moment after the read has ended.
        CacheRig.await(() -> !running.objects.contains(id(key)));
        long others = running.objects.stats().onDisk();
        assertThat(others).isPositive();
        for (int i = 0; i < 3; i++) {
            running.objects.sweep();
        }
        assertThat(running.objects.stats().onDisk()).isEqualTo(others);
    }

    @Test
    void anErasedTenantsObjectsAreGoneFromDiskToo() {
        CacheOnlyDiskRig running = open();
        running.fill();
        assertThat(running.begin("b", "b0", random(1, OBJECT), TERMS).join())
                .isInstanceOf(CacheOnlyPut.Stored.class);
        running.settle();
        assertThat(running.onDisk()).isNotEmpty();
        CacheControl.Held _ = running.cache.control().evictTenant("a");
        assertThat(running.held()).isZero();
        assertThat(running.objects.stats().onDisk()).isZero();
        assertThat(running.objects.stats().lost()).isZero();
        assertThat(running.objects.contains(id("b0"))).isTrue();
    }
}
