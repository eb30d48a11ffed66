package io.railhead.gateway.authorization;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.CacheConfig;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.ObjectId;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.PageMemory;
import io.railhead.gateway.config.ByteCount;
import io.railhead.gateway.config.CacheMode;
import io.railhead.gateway.config.Freshness;
import io.railhead.gateway.config.Rule;
import io.railhead.gateway.metrics.Metrics;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class AuthorizationCacheTest {
    private static final Rule RULE = new Rule("store", new Freshness.Immutable(),
            Duration.ofMinutes(1), CacheMode.READS, true, ByteCount.UNLIMITED, false, false, false,
            false);
    private static final ObjectId ID = new ObjectId("store", "account", "bucket", "key", null);
    private static final AuthorizationKey GRANT = new AuthorizationKey("p", "AK", "",
            AuthorizationKey.Action.READ, ID);

    private final AtomicLong nanos = new AtomicLong(-100);
    private final PageMemory memory = PageMemory
            .open(new MemoryConfig(1 << 20, 64 << 10, 0, false), slab -> {});
    private final ObjectCache cache = new ObjectCache(memory, CacheConfig.DEFAULT, nanos::get);
    private final AuthorizationCache authorizationCache = new AuthorizationCache(nanos::get, cache,
            new Metrics());

    @AfterEach
    void close() {
        cache.close();
        memory.close();
    }

    /** Its credential may have changed since. */
    @Test
    void whatWasAskedBeforeAPrincipalLostItsRightsIsNotRemembered() {
        long asked = nanos.incrementAndGet();
        authorizationCache.grant(GRANT, asked, cache.writes().epoch(ID));
        assertThat(authorizationCache.isGranted(GRANT, RULE)).isTrue();
        authorizationCache.revokeAll(Set.of("p"));
        assertThat(authorizationCache.isGranted(GRANT, RULE)).isFalse();
        authorizationCache.grant(GRANT, asked, cache.writes().epoch(ID));
        assertThat(authorizationCache.isGranted(GRANT, RULE)).isFalse();
        authorizationCache.grant(GRANT, nanos.incrementAndGet(), cache.writes().epoch(ID));
        assertThat(authorizationCache.isGranted(GRANT, RULE)).isTrue();
    }

    /** A million of them would be much of a small heap; those forgotten are asked for again. */
    @Test
    void fewAreRememberedWhileTheHeapIsShort() {
        assertThat(rememberedOf(100_000)).isEqualTo(100_000);
        authorizationCache.rememberFew();
        assertThat(rememberedOf(0)).isBetween(40_000L, 50_000L);
        // What has come too much goes a moment later, on another thread.
        assertThat(rememberedOf(100_000)).isLessThan(60_000);
        authorizationCache.rememberMany();
        assertThat(rememberedOf(100_000)).isEqualTo(100_000);
    }

    /** How many are, after so many yeses more. */
    private long rememberedOf(int yeses) {
        IntStream.range(0, yeses)
                .forEach(
                        i -> authorizationCache.grant(grant(i), nanos.get(),
                                cache.writes().epoch(ID)));
        return IntStream.range(0, 100_000)
                .filter(i -> authorizationCache.isGranted(grant(i), RULE))
                .count();
    }

    private static AuthorizationKey grant(int number) {
        return new AuthorizationKey("p" + number, "AK", "", AuthorizationKey.Action.READ, ID);
    }
}
