package io.railhead.cache;

import static io.railhead.cache.CacheRig.PAGE;
import static io.railhead.cache.CacheRig.random;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.CacheOnlyObjects.Raised;
import io.railhead.cache.disk.DiskTier;
import io.railhead.cache.disk.HangingDisk;
import io.railhead.cache.memory.LeakCheck;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageSlice;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** A small cache over a disk in memory, with cache-only objects of three pages. */
final class CacheOnlyDiskRig {
    static final int PAGES = 128;
    static final int OBJECT = 3 * PAGE - 1000;
    /** Twice what memory holds. */
    static final int COUNT = 80;
    static final CacheOnlyTerms TERMS = new CacheOnlyTerms(Duration.ofHours(2), true);
    private static final int RUN = 4 * PAGE;
    /** Of all rigs, since no ETag comes again after a restart. */
    private static final AtomicLong ETAGS = new AtomicLong();

    private final PageMemory memory;
    final DiskTier disk;
    final ObjectCache cache;
    final CacheOnlyObjects objects;

    CacheOnlyDiskRig(LeakCheck leaks, HangingDisk hanging, LongSupplier nanoClock,
            int queuedPages, Duration hangs, long mostObjects,
            Map<String, TenantQuota> tenants) {
        memory = leaks.watch(PageMemory.open(
                new MemoryConfig((long) PAGES * PAGE, PAGE, 0, false), slab -> {}));
        disk = leaks.closing(hanging.open(PAGE, (long) queuedPages * PAGE, hangs));
        cache = leaks.closing(new ObjectCache(memory,
                new CacheConfig(2 * RUN, RUN, Duration.ofSeconds(20), mostObjects, 0.5,
                        CacheRig.AHEAD, tenants, Verification.NONE),
                nanoClock, new ObjectCache.Lower(disk, id -> "store")));
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
        ObjectVersion version = new ObjectVersion(id(key),
                "\"" + ETAGS.getAndIncrement() + "\"", "",
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

    static ObjectId id(String key) {
        return new ObjectId(CacheOnlyObjects.BACKEND, "tenant:a", "kv-a", key, null);
    }

    static byte[] content(String key) {
        return random(Integer.parseInt(key.substring(1)), OBJECT);
    }
}
