package io.railhead.cache;

import static io.railhead.cache.CacheRig.PAGE;
import static io.railhead.cache.CacheRig.id;
import static io.railhead.cache.CacheRig.random;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.memory.LeakCheck;
import io.railhead.cache.memory.PageSlice;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A lock that all hits take would bound them all, however many loops serve them. */
final class UnlockedHitsTest {
    private static final int THREADS = 4;
    private static final int HITS = 100_000;

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    @Test
    void hitsOfDifferentObjectsNeverWaitForEachOther() throws Exception {
        CacheRig rig = CacheRig.of(leaks, 64);
        try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
            List<Future<Long>> waits = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                ObjectVersion version = rig.source.put(id("a" + i), random(i, PAGE), "1");
                rig.cache.learn(new ObjectMetadata(version, Map.of(), System.nanoTime(),
                        rig.cache.writes().epoch(version.object())));
                rig.readAll(version).awaitBytes();
                rig.source.awaitAnswered();
                waits.add(threads.submit(() -> hit(rig.cache, version)));
            }
            for (Future<Long> each : waits) {
                assertThat(each.get()).isZero();
            }
        }
    }

    /** Returns the number of times that this thread waited for a lock. */
    private static long hit(ObjectCache cache, ObjectVersion version) {
        @Nullable
        PageSlice[] slices = new PageSlice[1];
        lease(cache, version, slices);
        long before = waits();
        for (int i = 0; i < HITS; i++) {
            lease(cache, version, slices);
        }
        return waits() - before;
    }

    private static void lease(ObjectCache cache, ObjectVersion version,
            @Nullable PageSlice[] slices) {
        requireNonNull(cache.find(version.object()));
        if (cache.tryLease(version, 0, PAGE, slices) != 1) {
            throw new AssertionError("not held");
        }
        requireNonNull(slices[0]).close();
    }

    private static long waits() {
        ThreadInfo info = ManagementFactory.getThreadMXBean()
                .getThreadInfo(Thread.currentThread().threadId());
        return info.getBlockedCount() + info.getWaitedCount();
    }
}
