package io.railhead.gateway.object.cacheonly;

import static io.railhead.gateway.RandomBytes.random;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.Caller;
import io.railhead.backend.FetchTurn;
import io.railhead.backend.Target;
import io.railhead.cache.CacheConfig;
import io.railhead.cache.CacheOnlyObjects;
import io.railhead.cache.CacheOnlyTerms;
import io.railhead.cache.FillException;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.ObjectId;
import io.railhead.cache.ObjectMetadata;
import io.railhead.cache.ObjectVersion;
import io.railhead.cache.RangeReader;
import io.railhead.cache.ReadRequest;
import io.railhead.cache.StagedUpload;
import io.railhead.cache.disk.DiskConfig;
import io.railhead.cache.disk.DiskTier;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageMemory.Pool;
import io.railhead.cache.memory.PageSlice;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.config.ByteCount;
import io.railhead.gateway.config.CacheMode;
import io.railhead.gateway.config.Freshness;
import io.railhead.gateway.config.Rule;
import io.railhead.gateway.fill.BackendPageSource;
import io.railhead.os.RequiresDirectFiles;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/** Reads of cache-only objects that go to disk meanwhile. */
@RequiresDirectFiles
final class CacheOnlyReadTest {
    private static final int PAGE = 64 << 10;
    private static final int OBJECT = 6 * PAGE;
    private static final CacheOnlyTerms TERMS = new CacheOnlyTerms(Duration.ZERO, true);
    private static final Rule RULE = new Rule("store", new Freshness.CacheOnly(TERMS),
            Duration.ZERO, CacheMode.READS, true, ByteCount.UNLIMITED, false, false, false, true);

    @TempDir
    Path folder;

    private final PageMemory memory = PageMemory
            .open(new MemoryConfig(8 << 20, PAGE, 0, false), slab -> {});
    private @Nullable DiskTier disk;
    private @Nullable ObjectCache cache;
    private int puts;

    @BeforeEach
    void open() {
        DiskTier tier = DiskTier.open(new DiskConfig(
                List.of(folder.resolve("disk").toString()), DiskConfig.leastBytes(), 0, 1, PAGE,
                64L * PAGE, Duration.ofSeconds(20), Map.of(), null), System::nanoTime);
        disk = tier;
        TestGateway.await(tier::isRecovered);
        cache = new ObjectCache(memory, CacheConfig.DEFAULT, System::nanoTime,
                new ObjectCache.Lower(tier, id -> "store"));
    }

    @AfterEach
    void close() {
        cache().close();
        requireNonNull(disk).close();
        memory.close();
    }

    private ObjectCache cache() {
        return requireNonNull(cache);
    }

    private static ObjectId id(String key) {
        return new ObjectId(CacheOnlyObjects.BACKEND, "tenant:a", "kv-a", key, null);
    }

    private ObjectVersion put(String key, byte[] bytes) {
        StagedUpload upload = requireNonNull(cache().tryStage(bytes.length, "a"));
        upload.write(ByteBuffer.wrap(bytes));
        ObjectVersion version = new ObjectVersion(id(key), "\"" + puts++ + "\"", "",
                bytes.length);
        cache().cacheOnly()
                .put(new ObjectMetadata(version, Map.of(), 0, 0), upload, TERMS)
                .toCompletableFuture()
                .join();
        return version;
    }

    /** Puts others until an object is on disk. */
    private void sendToDisk(ObjectVersion version) {
        TestGateway.await(() -> {
            if (cache().cacheOnly().stats().leavingBytes() == 0) {
                put("other" + puts, random(puts, OBJECT));
            }
            return cache().cacheOnly().isOnDisk(version.object());
        });
    }

    @Test
    void aBodyGoesOnThoughItsObjectWentToDisk() {
        byte[] content = random(1, OBJECT);
        ObjectVersion version = put("k", content);
        ByteArrayOutputStream received = new ByteArrayOutputStream();
        CompletableFuture<Subscription> begun = new CompletableFuture<>();
        CompletableFuture<Boolean> ended = new CompletableFuture<>();
        new PagesBody(cache(), version, 0, OBJECT).subscribe(new Subscriber<>() {
            @Override
            public void onSubscribe(Subscription subscription) {
                begun.complete(subscription);
            }

            @Override
            public void onNext(ByteBuffer bytes) {
                byte[] piece = new byte[bytes.remaining()];
                bytes.get(piece);
                received.writeBytes(piece);
            }

            @Override
            public void onError(Throwable cause) {
                ended.completeExceptionally(cause);
            }

            @Override
            public void onComplete() {
                ended.complete(true);
            }
        });
        begun.join().request(1);
        sendToDisk(version);
        begun.join().request(Long.MAX_VALUE);
        assertThat(ended.join()).isTrue();
        assertThat(received.toByteArray()).isEqualTo(content);
    }

    @Test
    void aReaderGoesOnThoughItsObjectWentToDisk() {
        byte[] content = random(2, OBJECT);
        ObjectVersion version = put("k", content);
        sendToDisk(version);
        CacheOnlyStore store = new CacheOnlyStore(cache(), System::nanoTime,
                InstantSource.system(), 1);
        BackendPageSource source = new BackendPageSource(store.of("tenant:a", "a", RULE),
                new Caller.Anonymous(), new Target("kv-a", "k", null),
                FetchTurn.wanted("a"));
        CompletableFuture<Boolean> ended = new CompletableFuture<>();
        List<byte[]> received = new ArrayList<>();
        cache().read(new ReadRequest(version, 0, OBJECT, Pool.CACHE, "a"), source, Runnable::run,
                new RangeReader.Sink() {
                    @Override
                    public void slice(PageSlice owned) {
                        try (owned) {
                            owned.buffers().forEach(each -> {
                                byte[] piece = new byte[each.remaining()];
                                each.get(piece);
                                received.add(piece);
                            });
                        }
                    }

                    @Override
                    public void end() {
                        ended.complete(true);
                    }

                    @Override
                    public void failed(FillException cause, long atOffset) {
                        ended.completeExceptionally(cause);
                    }
                }).start();
        assertThat(ended.join()).isTrue();
        ByteArrayOutputStream whole = new ByteArrayOutputStream();
        received.forEach(whole::writeBytes);
        assertThat(whole.toByteArray()).isEqualTo(content);
    }
}
