package io.railhead.gateway.channel;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.Caller;
import io.railhead.cache.CacheConfig;
import io.railhead.cache.CacheOnlyTerms;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.ObjectMetadata;
import io.railhead.cache.ObjectVersion;
import io.railhead.cache.StagedUpload;
import io.railhead.cache.memory.LeakCheck;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.PageMemory;
import io.railhead.gateway.accounting.UsageTable;
import io.railhead.gateway.authorization.AccessControl;
import io.railhead.gateway.config.ByteCount;
import io.railhead.gateway.config.CacheMode;
import io.railhead.gateway.config.Freshness;
import io.railhead.gateway.config.Rule;
import io.railhead.gateway.metrics.Metrics;
import io.railhead.gateway.object.cacheonly.CacheOnlyKeys;
import io.railhead.gateway.request.RequestSource;
import io.railhead.gateway.request.Route;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.KeyBlock;
import io.railhead.protocol.channel.Request;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Requests for many keys whose asker goes meanwhile. */
final class ChannelKeysTest {
    private static final CacheOnlyTerms TERMS = new CacheOnlyTerms(Duration.ZERO, false);
    private static final Rule RULE = new Rule("store", new Freshness.CacheOnly(TERMS),
            Duration.ZERO, CacheMode.READS, true, ByteCount.UNLIMITED, false, false, false, true);
    private static final List<String> KEYS = List.of("k0", "k1", "k2");

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private final PageMemory memory = leaks.watch(PageMemory
            .open(new MemoryConfig(8 << 20, 64 << 10, 0, false), slab -> {}));
    private final ObjectCache cache = leaks
            .closing(new ObjectCache(memory, CacheConfig.DEFAULT, System::nanoTime));
    private final CacheOnlyKeys objects = new CacheOnlyKeys(cache.cacheOnly(),
            new AccessControl(null, new Metrics()), RequestSource.anonymous(null, false),
            new Route(new NoBackend(), new Caller.Anonymous(), "tenant:a", RULE,
                    new UsageTable()),
            "kv-a");

    @BeforeEach
    void hold() {
        for (String key : KEYS) {
            StagedUpload upload = requireNonNull(cache.tryStage(1, "a"));
            upload.write(ByteBuffer.allocate(1));
            ObjectVersion version = new ObjectVersion(objects.id(key), "\"" + key + "\"", "", 1);
            cache.cacheOnly()
                    .put(new ObjectMetadata(version, Map.of(), 0, 0), upload, TERMS)
                    .toCompletableFuture()
                    .join();
        }
    }

    @Test
    void aLeaseEndsAtTheKeyAtWhichItsAskerHasGone() {
        AtomicInteger asked = new AtomicInteger();
        Answer answer = new ChannelKeys(objects, () -> asked.incrementAndGet() > 2)
                .answer(Request.lease(0, "kv-a", "", KeyBlock.ofTexts(KEYS), 60_000));
        assertThat(answer.objectSize()).isEqualTo(2);
        assertThat(cache.cacheOnly().stats().leased()).isEqualTo(2);
    }
}
