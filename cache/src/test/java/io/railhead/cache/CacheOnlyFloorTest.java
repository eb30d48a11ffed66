package io.railhead.cache;

import static io.railhead.cache.CacheRig.PAGE;
import static io.railhead.cache.CacheRig.random;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.memory.LeakCheck;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.PageMemory;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A tenant with a floor of most of the memory, which others fill and lease first. */
final class CacheOnlyFloorTest {
    private static final int PAGES = 128;
    /** All pages but the fills'. */
    private static final int CACHED = 120;
    private static final int FLOOR = 96;
    private static final int RUN = 4 * PAGE;

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private final AtomicLong nanos = new AtomicLong(1);
    private final PageMemory memory = leaks.watch(PageMemory.open(
            new MemoryConfig((long) PAGES * PAGE, PAGE, 0, false), slab -> {}));
    private final ObjectCache cache = leaks.closing(new ObjectCache(memory,
            new CacheConfig(2 * RUN, RUN, Duration.ofSeconds(20), 1000, 0.25,
                    new ReadAhead.Limits(0, 0),
                    Map.of("kept", new TenantQuota(TenantQuota.NO_QUOTA, (long) FLOOR * PAGE)),
                    Verification.NONE),
            nanos::get));
    private final CacheOnlyObjects objects = cache.cacheOnly();
    private int etags;

    private static ObjectId id(String tenant, int key) {
        return new ObjectId(CacheOnlyObjects.BACKEND, "tenant:" + tenant, "kv-a", "k" + key, null);
    }

    /** Puts the objects that are not there. */
    private void fill(String tenant, int count) {
        for (int i = 0; i < count; i++) {
            if (!objects.contains(id(tenant, i))) {
                put(tenant, i);
            }
        }
    }

    private void put(String tenant, int key) {
        StagedUpload upload = cache.tryStage(PAGE, tenant);
        assertThat(upload).as("%s %s", tenant, key).isNotNull();
        upload.write(ByteBuffer.wrap(random(key, PAGE)));
        ObjectVersion version = new ObjectVersion(id(tenant, key), "\"" + etags++ + "\"", "", PAGE);
        assertThat(objects.put(new ObjectMetadata(version, Map.of(), nanos.get(), 0), upload,
                new CacheOnlyTerms(Duration.ZERO, false))).as("%s %s", tenant, key)
                .isCompletedWithValueMatching(CacheOnlyPut.Stored.class::isInstance);
    }

    private long held(String tenant, int count) {
        return IntStream.range(0, count).filter(i -> objects.contains(id(tenant, i))).count();
    }

    private long leaseAll(String tenant, int count) {
        return IntStream.range(0, count)
                .filter(i -> objects.tryLease(id(tenant, i), CacheOnlyObjects.MAX_LEASE))
                .count();
    }

    @Test
    void renewedLeasesKeepNoTenantBelowItsFloor() {
        fill("other", CACHED);
        assertThat(leaseAll("other", CACHED)).isEqualTo(CACHED / 2);
        fill("kept", FLOOR);
        assertThat(held("kept", FLOOR)).as("until the leases end").isGreaterThan(CACHED / 3);
        for (int round = 0; round < 5; round++) {
            nanos.addAndGet(Duration.ofMinutes(5).toNanos());
            leaseAll("other", CACHED);
            fill("kept", FLOOR);
        }
        assertThat(held("kept", FLOOR)).isEqualTo(FLOOR);
        assertThat(objects.stats().leasedBytes()).isPositive();
    }
}
