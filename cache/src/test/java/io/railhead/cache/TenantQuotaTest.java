package io.railhead.cache;

import static io.railhead.cache.CacheRig.PAGE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.memory.LeakCheck;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageMemory.Pool;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a quota takes, and a floor leaves: sources answer at once, on the reader's thread. */
final class TenantQuotaTest {
    private static final int PAGES = 128;
    private static final int RUN = 4 * PAGE;
    /** What may be cached of it: a run's worth twice over is for fills. */
    private static final long CACHED = (long) PAGES * PAGE - Math.max(2 * RUN, PAGES * PAGE / 16);
    private static final long QUOTA = 20 * PAGE;
    private static final long FLOOR = 60 * PAGE;
    private static final Map<String, TenantQuota> RULES = Map.of(
            "capped", new TenantQuota(QUOTA, 0),
            "kept", new TenantQuota(TenantQuota.NO_QUOTA, FLOOR),
            "both", new TenantQuota(2 * QUOTA, QUOTA));

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private final PageMemory memory = leaks.watch(PageMemory.open(
            new MemoryConfig((long) PAGES * PAGE, PAGE, 0, false), slab -> {}));
    private final ObjectCache cache = leaks.closing(new ObjectCache(memory,
            new CacheConfig(2 * RUN, RUN, Duration.ofSeconds(20), 100_000, 0.25,
                    new ReadAhead.Limits(0, 0), RULES, Verification.NONE),
            System::nanoTime));

    private ObjectVersion version(String key, int pages) {
        return new ObjectVersion(CacheRig.id(key), "\"1\"", "", (long) pages * PAGE);
    }

    private static void fetch(ObjectVersion version, long offset, long length,
            PageSource.Sink sink) {
        sink.write(ByteBuffer.allocate((int) length));
        sink.complete();
    }

    private void read(String tenant, ObjectVersion version) {
        Closing sink = new Closing();
        cache.read(new ReadRequest(version, 0, version.sizeBytes(), Pool.CACHE, tenant),
                TenantQuotaTest::fetch, Runnable::run, sink).start();
        assertThat(sink.ended).isTrue();
    }

    private TenantQuota.Use use(String tenant) {
        return cache.tenants()
                .stream()
                .filter(use -> use.tenant().equals(tenant))
                .findAny()
                .orElseThrow();
    }

    private long held(List<ObjectVersion> versions) {
        return versions.stream().filter(each -> cache.holds(each, 0, each.sizeBytes())).count();
    }

    private List<ObjectVersion> readMany(String tenant, int count) {
        List<ObjectVersion> versions = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            versions.add(version(tenant + i, 1));
            read(tenant, versions.getLast());
        }
        return versions;
    }

    @Test
    void aTenantAtItsQuotaEvictsItsOwnPages() {
        List<ObjectVersion> others = readMany("other", 60);
        readMany("capped", 500);
        assertThat(use("capped").bytes()).isEqualTo(QUOTA);
        assertThat(use("capped").quotaEvictions()).isEqualTo(500 - QUOTA / PAGE);
        assertThat(held(others)).isEqualTo(60);
    }

    @Test
    void whatATenantHasUpToItsFloorStays() {
        List<ObjectVersion> kept = readMany("kept", (int) (FLOOR / PAGE));
        readMany("other", 1000);
        readMany("both", 1000);
        assertThat(held(kept)).isEqualTo(FLOOR / PAGE);
    }

    @Test
    void aFloorThatOthersUseIsGivenBack() {
        readMany("other", 1000);
        assertThat(cache.stats().pages() * PAGE).isGreaterThan(CACHED - RUN);
        List<ObjectVersion> kept = readMany("kept", (int) (FLOOR / PAGE));
        assertThat(held(kept)).isEqualTo(FLOOR / PAGE);
    }

    @Test
    void aboveTheirFloorsTenantsThatWantAllShareEvenly() {
        for (int round = 0; round < 20; round++) {
            readMany("other", 100);
            readMany("kept", 100);
        }
        long other = cache.stats().pages() * PAGE - use("kept").bytes();
        assertThat(use("kept").bytes() - FLOOR).isBetween(other - 4 * RUN, other + 4 * RUN);
    }

    @Test
    void aTenantReadsWhatWasFetchedForAnother() {
        List<ObjectVersion> theirs = readMany("capped", 10);
        long fetched = cache.stats().fillBytes();
        theirs.forEach(each -> read("kept", each));
        assertThat(cache.stats().fillBytes()).isEqualTo(fetched);
        assertThat(use("capped").bytes()).isEqualTo(10 * PAGE);
        assertThat(use("kept").bytes()).isZero();
    }

    /** Random reads, writes' evictions, pins: quotas and floors hold after each. */
    @ParameterizedTest(name = "seed {0}")
    @ValueSource(ints = {1, 2, 3, 4})
    void quotasAndFloorsHold(int seed) {
        Random random = new Random(seed);
        List<String> tenants = List.of("capped", "kept", "both", "other", "another");
        Selection pin = new Selection("bucket", "pinned/", Selection.Kind.PREFIX);
        for (int step = 0; step < 1000; step++) {
            Map<String, Long> before = new HashMap<>();
            cache.tenants().forEach(use -> before.put(use.tenant(), use.bytes()));
            String actor = tenants.get(random.nextInt(tenants.size()));
            String key = (random.nextInt(20) == 0 ? "pinned/" : "key/") + random.nextInt(120);
            ObjectVersion version = version(key, 1 + Math.floorMod(key.hashCode(), 3));
            switch (random.nextInt(40)) {
                case 0 -> assertThat(cache.control().tryPin(pin)).isIn(true, false);
                case 1 -> cache.control().unpin(pin);
                case 2 -> cache.control()
                        .evict(new Selection("bucket", key, Selection.Kind.KEY));
                default -> {
                    read(actor, version);
                    assertFloors(actor, before);
                }
            }
            assertQuotas();
        }
    }

    /** A read evicts nobody else's below the floor, but its own pages may move to a pin. */
    private void assertFloors(String actor, Map<String, Long> before) {
        for (TenantQuota.Use use : cache.tenants()) {
            long floor = requireNonNull(RULES.get(use.tenant())).floorBytes();
            if (!use.tenant().equals(actor)) {
                assertThat(use.bytes()).as(use.tenant())
                        .isGreaterThanOrEqualTo(
                                Math.min(floor, requireNonNull(before.get(use.tenant()))));
            }
        }
    }

    private void assertQuotas() {
        for (TenantQuota.Use use : cache.tenants()) {
            assertThat(use.bytes()).as(use.tenant())
                    .isBetween(0L, requireNonNull(RULES.get(use.tenant())).quotaBytes());
        }
        assertThat(cache.stats().pages() * PAGE).isLessThanOrEqualTo(CACHED + RUN);
    }

    @Test
    void tenantsThatFillAtOnceStayWithinTheirShares() throws Exception {
        List<ObjectVersion> kept = readMany("kept", (int) (FLOOR / PAGE));
        try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
            List<Future<?>> all = new ArrayList<>();
            for (String tenant : List.of("capped", "both", "other", "another")) {
                all.add(threads.submit(() -> {
                    for (int i = 0; i < 2000; i++) {
                        read(tenant, version(tenant + i % 300, 1));
                    }
                }));
            }
            for (Future<?> each : all) {
                each.get();
            }
        }
        assertThat(held(kept)).isEqualTo(FLOOR / PAGE);
        assertQuotas();
    }
}
