package io.railhead.cache;

import static io.railhead.cache.CacheRig.PAGE;
import static io.railhead.cache.CacheRig.random;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.cache.memory.LeakCheck;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.Page;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageSlice;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Objects that no store has: written once, whole or gone, evicted in the order of their arrival.
 */
final class CacheOnlyObjectsTest {
    private static final int PAGES = 128;
    private static final int RUN = 4 * PAGE;
    private static final String ABOVE_SURROGATES = Character.toString(0xFFFD);
    private static final String BEYOND_16_BITS = Character.toString(0x1F600);
    private static final Duration LIFE = Duration.ofHours(2);
    private static final CacheOnlyTerms TERMS = new CacheOnlyTerms(LIFE, false);
    private static final Map<String, TenantQuota> RULES = Map.of(
            "capped", new TenantQuota(16 * PAGE, 0),
            "kept", new TenantQuota(TenantQuota.NO_QUOTA, 40 * PAGE));

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private final AtomicLong nanos = new AtomicLong(1);
    private final PageMemory memory = leaks.watch(PageMemory.open(
            new MemoryConfig((long) PAGES * PAGE, PAGE, 0, false), slab -> {}));
    private final ObjectCache cache = leaks.closing(new ObjectCache(memory,
            new CacheConfig(2 * RUN, RUN, Duration.ofSeconds(20), 1000, 0.25,
                    new ReadAhead.Limits(0, 0), RULES, Verification.NONE),
            nanos::get));
    private final CacheOnlyObjects objects = cache.cacheOnly();
    /** The ends of the objects that {@link #put(Map, String, String, byte[])} stored. */
    private final Map<String, Long> lives = new HashMap<>();
    private int etags;

    private static ObjectId id(String tenant, String key) {
        return new ObjectId(CacheOnlyObjects.BACKEND, "tenant:" + tenant, "kv-a", key, null);
    }

    private CacheOnlyPut put(String tenant, String key, byte[] bytes) {
        return put(tenant, key, bytes, LIFE);
    }

    private CacheOnlyPut put(String tenant, String key, byte[] bytes, Duration life) {
        StagedUpload upload = requireNonNull(cache.tryStage(bytes.length, tenant));
        upload.write(ByteBuffer.wrap(bytes));
        String etag = "\"" + etags++ + "\"";
        ObjectVersion version = new ObjectVersion(id(tenant, key), etag, "", bytes.length);
        return objects
                .put(new ObjectMetadata(version, Map.of("etag", etag), nanos.get(), 0), upload,
                        new CacheOnlyTerms(life, false))
                .toCompletableFuture()
                .join();
    }

    /** Null if there is no such object; fails if a part of it is not there. */
    private byte @Nullable [] get(String tenant, String key) {
        ObjectMetadata held = cache.find(id(tenant, key));
        if (held == null) {
            return null;
        }
        @Nullable
        PageSlice[] slices = new @Nullable PageSlice[PAGES];
        int count = cache.tryLease(held.version(), 0, held.version().sizeBytes(), slices);
        assertThat(count).as("pages of a whole object").isGreaterThanOrEqualTo(0);
        ByteBuffer bytes = ByteBuffer.allocate((int) held.version().sizeBytes());
        for (int i = 0; i < count; i++) {
            try (PageSlice slice = requireNonNull(slices[i])) {
                slice.buffers().forEach(bytes::put);
            }
        }
        return bytes.array();
    }

    private List<String> held(String tenant, int count) {
        List<String> held = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            if (objects.contains(id(tenant, "k" + i))) {
                held.add("k" + i);
            }
        }
        return held;
    }

    private void fill(String tenant, int count) {
        for (int i = 0; i < count; i++) {
            assertThat(put(tenant, "k" + i, random(i, PAGE)))
                    .isInstanceOf(CacheOnlyPut.Stored.class);
        }
    }

    @Test
    void anObjectIsReadAsItWasPut() {
        byte[] object = random(1, 3 * PAGE + 777);
        assertThat(put("a", "k", object)).isInstanceOf(CacheOnlyPut.Stored.class);
        assertThat(get("a", "k")).isEqualTo(object);
        assertThat(put("a", "empty", new byte[0])).isInstanceOf(CacheOnlyPut.Stored.class);
        assertThat(get("a", "empty")).isEmpty();
        assertThat(objects.stats().objects()).isEqualTo(2);
        assertThat(get("b", "k")).isNull();
    }

    @Test
    void aKeyIsWrittenOnceUntilItIsDeleted() {
        byte[] first = random(1, 2 * PAGE);
        byte[] other = first.clone();
        other[2 * PAGE - 1]++;
        put("a", "k", first);
        assertThat(put("a", "k", first.clone())).isInstanceOf(CacheOnlyPut.Same.class);
        assertThat(put("a", "k", other)).isInstanceOf(CacheOnlyPut.Other.class);
        assertThat(put("a", "k", random(1, 10))).isInstanceOf(CacheOnlyPut.Other.class);
        assertThat(get("a", "k")).isEqualTo(first);
        assertThat(put("b", "k", other)).as("another tenant's key")
                .isInstanceOf(CacheOnlyPut.Stored.class);
        assertThat(objects.delete(id("a", "k"))).isTrue();
        assertThat(objects.delete(id("a", "k"))).isFalse();
        assertThat(get("a", "k")).isNull();
        assertThat(put("a", "k", other)).isInstanceOf(CacheOnlyPut.Stored.class);
        assertThat(get("a", "k")).isEqualTo(other);
    }

    @Test
    void noAnswerOfAStoreRefutesAnObject() {
        byte[] object = random(1, PAGE);
        put("a", "k", object);
        cache.evict(id("a", "k"));
        assertThat(cache.learn(new ObjectMetadata(new ObjectVersion(id("a", "k"), "\"x\"", "", 7),
                Map.of(), nanos.get(), 0))).isFalse();
        assertThat(get("a", "k")).isEqualTo(object);
    }

    @Test
    void bytesThatWaitForAComparisonCountAsAnUpload() {
        List<Runnable> waiting = new ArrayList<>();
        EvictionCounts counts = new EvictionCounts();
        TenantPartitions partitions = new TenantPartitions(Map.of(), RUN, counts, null);
        CacheOnlyObjects queued = new CacheOnlyObjects(partitions, counts, nanos::get, 10,
                waiting::add);
        partitions.ownedBy(queued);
        partitions.limit(64L * PAGE);
        int size = PAGES / 4 * PAGE;
        assertThat(size).isGreaterThan(64 << 10);
        assertThat(stagedPut(queued, "k", size)).isCompleted();
        CompletableFuture<CacheOnlyPut> again = stagedPut(queued, "k", size);
        assertThat(cache.tryStage(PAGE, "a")).isNull();
        waiting.forEach(Runnable::run);
        assertThat(again).isCompletedWithValueMatching(CacheOnlyPut.Same.class::isInstance);
        assertThat(cache.stats().stagedBytes()).isZero();
        queued.clear();
    }

    private CompletableFuture<CacheOnlyPut> stagedPut(CacheOnlyObjects to, String key,
            int size) {
        StagedUpload upload = requireNonNull(cache.tryStage(size, "a"));
        upload.write(ByteBuffer.allocate(size));
        ObjectVersion version = new ObjectVersion(id("a", key), "\"" + etags++ + "\"", "", size);
        return to.put(new ObjectMetadata(version, Map.of(), nanos.get(), 0), upload, TERMS)
                .toCompletableFuture();
    }

    @Test
    void aFillTakesObjectsBeforeThePartThatCachedPagesKeep() {
        EvictionCounts counts = new EvictionCounts();
        TenantPartitions partitions = new TenantPartitions(Map.of(), RUN, counts, null);
        CacheOnlyObjects own = new CacheOnlyObjects(partitions, counts, nanos::get, 100,
                Runnable::run);
        partitions.ownedBy(own);
        partitions.limit(64L * PAGE);
        TenantPartition partition = partitions.of("a");
        for (int i = 0; i < 8; i++) {
            Page page = requireNonNull(
                    memory.tryAllocate(new int[]{PAGE}, PageMemory.Pool.CACHE)).getFirst();
            page.publish();
            partitions.put(partition, new PageKey(
                    new ObjectVersion(CacheRig.id("p" + i), "\"1\"", "", PAGE), 0), page);
        }
        for (int i = 0; i < 20; i++) {
            assertThat(stagedPut(own, "k" + i, PAGE)).isCompleted();
        }
        partitions.evictColdest(4L * PAGE, "a");
        assertThat(partition.keys()).hasSize(8);
        assertThat(own.stats().objects()).isEqualTo(16);
        own.clear();
        partition.clear();
    }

    @Test
    void aReaderOfADeletedObjectKeepsItsBytes() {
        byte[] object = random(1, PAGE);
        put("a", "k", object);
        ObjectMetadata held = requireNonNull(cache.find(id("a", "k")));
        @Nullable
        PageSlice[] slices = new @Nullable PageSlice[1];
        assertThat(cache.tryLease(held.version(), 0, PAGE, slices)).isEqualTo(1);
        try (PageSlice slice = requireNonNull(slices[0])) {
            objects.delete(id("a", "k"));
            put("a", "k", random(2, PAGE));
            assertThat(slice.buffers().getFirst()).isEqualTo(ByteBuffer.wrap(object));
        }
        assertThat(cache.tryLease(held.version(), 0, PAGE, slices)).as("the old version")
                .isNegative();
    }

    @Test
    void anObjectEndsWithItsLife() {
        put("a", "short", random(1, PAGE), Duration.ofSeconds(10));
        put("a", "long", random(2, PAGE), Duration.ZERO);
        nanos.addAndGet(Duration.ofSeconds(10).toNanos());
        assertThat(objects.contains(id("a", "short"))).isFalse();
        assertThat(get("a", "long")).isNotNull();
        assertThat(objects.stats().expired()).isEqualTo(1);
        assertThat(put("a", "short", random(3, PAGE))).isInstanceOf(CacheOnlyPut.Stored.class);
        nanos.addAndGet(LIFE.toNanos());
        long before = memory.stats().usedBytes();
        objects.sweep();
        assertThat(memory.stats().usedBytes()).isEqualTo(before - PAGE);
        assertThat(objects.stats().objects()).isEqualTo(1);
    }

    @Test
    void aFullShareEvictsTheOldestThatNobodyRead() {
        fill("capped", 16);
        assertThat(get("capped", "k0")).isNotNull();
        assertThat(put("capped", "k16", random(16, 2 * PAGE)))
                .isInstanceOf(CacheOnlyPut.Stored.class);
        assertThat(held("capped", 17)).contains("k0", "k3", "k15", "k16")
                .doesNotContain("k1", "k2");
        assertThat(objects.stats().evicted()).isEqualTo(2);
    }

    @Test
    void aLeasedObjectStaysUntilItsLeaseEnds() {
        fill("capped", 16);
        lease("capped", 0, 8, Duration.ofMinutes(1));
        fillAfter(16, 40);
        assertThat(held("capped", 40)).contains("k0", "k7", "k39").doesNotContain("k8", "k16");
        assertThat(put("capped", "large", random(1, 9 * PAGE)))
                .isInstanceOf(CacheOnlyPut.Full.class);
        assertThat(objects.stats().leasedBytes()).isEqualTo(8 * PAGE);
        nanos.addAndGet(Duration.ofMinutes(1).toNanos());
        assertThat(objects.stats().leasedBytes()).isZero();
        assertThat(put("capped", "large", random(1, 16 * PAGE)))
                .isInstanceOf(CacheOnlyPut.Stored.class);
        assertThat(objects.tryLease(id("capped", "none"), Duration.ofMinutes(1))).isFalse();
    }

    private void lease(String tenant, int from, int to, Duration time) {
        for (int i = from; i < to; i++) {
            assertThat(objects.tryLease(id(tenant, "k" + i), time)).as("k%s", i).isTrue();
        }
    }

    @Test
    void aHalfOfTheRoomCanBeLeased() {
        fill("capped", 16);
        lease("capped", 0, 8, Duration.ofMinutes(1));
        assertThat(objects.tryLease(id("capped", "k8"), Duration.ofMinutes(1))).isFalse();
        assertThat(objects.stats().leased()).isEqualTo(8);
        assertThat(objects.stats().leasesRefused()).isEqualTo(1);
        assertThat(objects.delete(id("capped", "k0"))).isTrue();
        lease("capped", 8, 9, Duration.ofMinutes(1));
        fill("other", 2);
        lease("other", 0, 2, Duration.ofMinutes(1));
    }

    @Test
    void aLongerLeaseReplacesAShorterOne() {
        fill("capped", 1);
        lease("capped", 0, 1, Duration.ofMinutes(2));
        lease("capped", 0, 1, Duration.ofMinutes(1));
        nanos.addAndGet(Duration.ofSeconds(90).toNanos());
        assertThat(objects.stats().leasedBytes()).isEqualTo(PAGE);
        lease("capped", 0, 1, Duration.ofMinutes(5));
        nanos.addAndGet(Duration.ofMinutes(4).toNanos());
        assertThat(objects.stats().leasedBytes()).isEqualTo(PAGE);
        nanos.addAndGet(Duration.ofMinutes(1).toNanos());
        assertThat(objects.stats().leasedBytes()).isZero();
        assertThatThrownBy(() -> objects.tryLease(id("capped", "k0"), Duration.ofMinutes(11)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("PT10M");
    }

    @Test
    void leasesLeaveAnotherTenantItsFloor() {
        fill("other", 90);
        int leased = 0;
        while (objects.tryLease(id("other", "k" + leased), CacheOnlyObjects.MAX_LEASE)) {
            leased++;
        }
        assertThat(leased).isBetween(30, 60);
        fill("kept", 30);
        assertThat(held("kept", 30)).hasSize(30);
        assertThat(held("other", leased)).hasSize(leased);
    }

    @Test
    void manySmallLeasesLeaveRoomForOthersObjects() {
        for (int i = 0; i < 1000; i++) {
            put("other", "k" + i, new byte[0]);
        }
        int leased = 0;
        while (objects.tryLease(id("other", "k" + leased), Duration.ofMinutes(1))) {
            leased++;
        }
        assertThat(leased).isBetween(100, 500);
        fill("capped", 3);
        assertThat(held("capped", 3)).hasSize(3);
        assertThat(held("other", leased)).hasSize(leased);
    }

    @Test
    void oneTenantsManyObjectsDoNotRefuseAnothers() {
        for (int i = 0; i < 1000; i++) {
            put("other", "k" + i, new byte[0]);
        }
        fill("capped", 3);
        assertThat(held("capped", 3)).hasSize(3);
        assertThat(held("other", 1000)).hasSize(997).doesNotContain("k0", "k1", "k2");
        assertThat(objects.stats().refused()).isZero();
    }

    @Test
    void anObjectBeyondTheShareIsRefusedAndEvictsNothing() {
        fill("capped", 16);
        assertThat(put("capped", "large", random(1, 20 * PAGE)))
                .isInstanceOf(CacheOnlyPut.Full.class);
        assertThat(held("capped", 16)).hasSize(16);
    }

    @Test
    void aFloorIsKeptFromOthers() {
        fill("kept", 30);
        for (int i = 0; i < 200; i++) {
            put("other", "k" + i, random(i, PAGE));
        }
        assertThat(held("kept", 30)).hasSize(30);
        assertThat(held("other", 200)).contains("k199").doesNotContain("k0");
    }

    @Test
    void keysAreVisitedInTheOrderOfTheirBytes() {
        List<String> keys = List.of("a", "a/b", ABOVE_SURROGATES, BEYOND_16_BITS, "z");
        keys.forEach(key -> put("a", key, random(1, 10)));
        List<String> visited = new ArrayList<>();
        objects.visit("tenant:a", "kv-a", "a/", metadata -> {
            visited.add(metadata.version().object().key());
            return true;
        });
        assertThat(visited).containsExactly("a/b", "z", ABOVE_SURROGATES, BEYOND_16_BITS);
    }

    @Test
    void anOperatorEvictsThemAndPinsNone() {
        fill("capped", 10);
        assertThat(cache.control().tryPin(new Selection("kv-a", "k0", Selection.Kind.KEY)))
                .isTrue();
        fillAfter(10, 30);
        assertThat(held("capped", 1)).as("pinned, which means nothing here").isEmpty();
        assertThat(cache.stats().pinnedBytes()).isZero();
        CacheControl.Held evicted = cache.control()
                .evict(new Selection("kv-a", "", Selection.Kind.PREFIX));
        assertThat(evicted.objects()).isEqualTo(16);
        assertThat(evicted.bytes()).isEqualTo(16 * PAGE);
        assertThat(objects.stats().objects()).isZero();
    }

    private void fillAfter(int from, int to) {
        for (int i = from; i < to; i++) {
            put("capped", "k" + i, random(i, PAGE));
        }
    }

    @Test
    void cachedPagesGetTheRoomBackThatCacheOnlyObjectsLeave() {
        long before = cache.control().roomBytes();
        fill("other", 60);
        objects.deleteAll(id -> id.bucket().equals("kv-a"));
        objects.sweep();
        assertThat(objects.stats().bytes()).isZero();
        assertThat(cache.control().roomBytes()).isEqualTo(before);
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
    void nobodyReadsOtherBytesThanWerePut(int seed) {
        Random random = new Random(seed);
        Map<String, byte[]> model = new HashMap<>();
        Map<String, Long> leases = new HashMap<>();
        for (int step = 0; step < 1000; step++) {
            String tenant = List.of("capped", "kept", "other").get(random.nextInt(3));
            String key = "k" + random.nextInt(40);
            String name = tenant + "/" + key;
            switch (random.nextInt(8)) {
                case 0, 1, 2 -> put(model, tenant, key,
                        random(random.nextInt(3), random.nextInt(5 * PAGE)));
                case 3 -> {
                    objects.delete(id(tenant, key));
                    model.remove(name);
                    leases.remove(name);
                }
                case 4 -> nanos.addAndGet(Duration.ofMinutes(random.nextInt(5)).toNanos());
                case 5 -> lease(leases, tenant, key, Duration.ofSeconds(1 + random.nextInt(600)));
                default -> {
                    byte[] read = get(tenant, key);
                    if (read != null) {
                        assertThat(read).as(name).isEqualTo(model.get(name));
                    }
                }
            }
            assertLeasedAreHeld(leases, "seed " + seed + ", step " + step);
        }
        assertThat(objects.stats().leased()).isPositive();
        assertThat(objects.stats().evicted()).isPositive();
        assertThat(objects.stats().expired()).isPositive();
    }

    /** Notes until when a lease keeps the object; another lease or the object's life may end it. */
    private void lease(Map<String, Long> leases, String tenant, String key, Duration time) {
        String name = tenant + "/" + key;
        if (objects.tryLease(id(tenant, key), time)) {
            leases.merge(name, Math.min(nanos.get() + time.toNanos(),
                    requireNonNull(lives.get(name))), Math::max);
        }
    }

    private void assertLeasedAreHeld(Map<String, Long> leases, String about) {
        leases.values().removeIf(until -> until <= nanos.get());
        assertThat(leases.keySet()).as(about)
                .allMatch(name -> objects.contains(id(name.substring(0, name.indexOf('/')),
                        name.substring(name.indexOf('/') + 1))));
    }

    @Test
    void underManyThreadsEachReadIsOfOnePut() throws Exception {
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<?>> ends = new ArrayList<>();
            for (int thread = 0; thread < 4; thread++) {
                Random random = new Random(thread);
                ends.add(threads.submit(() -> {
                    for (int step = 0; step < 500; step++) {
                        work(random);
                    }
                }));
            }
            for (Future<?> end : ends) {
                end.get();
            }
        }
        assertThat(objects.stats().bytes()).isEqualTo(memory.stats().usedBytes());
    }

    private void work(Random random) {
        String key = "k" + random.nextInt(6);
        int seed = random.nextInt(100);
        StagedUpload upload = cache.tryStage(2 * PAGE, "capped");
        if (upload == null || random.nextInt(5) == 0) {
            objects.delete(id("capped", key));
        }
        if (upload != null) {
            byte[] bytes = random(seed, 2 * PAGE);
            upload.write(ByteBuffer.wrap(bytes));
            // The ETag tells a reader which bytes were put.
            String etag = "\"" + seed + "-" + Long.toHexString(random.nextLong()) + "\"";
            objects.put(new ObjectMetadata(new ObjectVersion(id("capped", key), etag, "",
                    bytes.length), Map.of("etag", etag), nanos.get(), 0), upload, TERMS)
                    .toCompletableFuture()
                    .join();
        }
        ObjectMetadata held = cache.find(id("capped", "k" + random.nextInt(6)));
        @Nullable
        PageSlice[] slices = new @Nullable PageSlice[2];
        int count = held == null ? -1 : cache.tryLease(held.version(), 0, 2 * PAGE, slices);
        if (held == null || count < 0) {
            return;
        }
        String etag = held.version().etag();
        byte[] expected = random(Integer.parseInt(etag.substring(1, etag.indexOf('-'))), 2 * PAGE);
        for (int i = 0; i < 2; i++) {
            try (PageSlice slice = requireNonNull(slices[i])) {
                assertThat(slice.buffers().getFirst())
                        .isEqualTo(ByteBuffer.wrap(expected, i * PAGE, PAGE));
            }
        }
    }

    private void put(Map<String, byte[]> model, String tenant, String key, byte[] bytes) {
        boolean wasThere = objects.contains(id(tenant, key));
        byte[] before = model.get(tenant + "/" + key);
        switch (put(tenant, key, bytes)) {
            case CacheOnlyPut.Stored _ -> {
                model.put(tenant + "/" + key, bytes);
                lives.put(tenant + "/" + key, nanos.get() + LIFE.toNanos());
            }
            case CacheOnlyPut.Same _ -> assertThat(bytes).isEqualTo(before);
            case CacheOnlyPut.Other _ -> {
                assertThat(wasThere).isTrue();
                assertThat(bytes).isNotEqualTo(before);
            }
            case CacheOnlyPut.Full _ -> {
                // Nothing was put.
            }
        }
    }
}
