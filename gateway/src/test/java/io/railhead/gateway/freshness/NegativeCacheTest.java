package io.railhead.gateway.freshness;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.CacheConfig;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.ObjectId;
import io.railhead.cache.WriteOutcome;
import io.railhead.cache.Writes;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.PageMemory;
import io.railhead.gateway.authorization.AuthorizationKey;
import io.railhead.gateway.config.ByteCount;
import io.railhead.gateway.config.CacheMode;
import io.railhead.gateway.config.Freshness;
import io.railhead.gateway.config.Rule;
import io.railhead.gateway.freshness.NegativeCache.Said;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** For how long an absence is remembered, and what ends it. */
final class NegativeCacheTest {
    private static final ObjectId ID = new ObjectId("store", "account", "bucket", "key", null);
    private static final AuthorizationKey GRANT = new AuthorizationKey("p", "AK", "",
            AuthorizationKey.Action.READ, ID);

    private final AtomicLong nanos = new AtomicLong(-100);
    private final PageMemory memory = PageMemory
            .open(new MemoryConfig(1 << 20, 64 << 10, 0, false), slab -> {});
    private final ObjectCache cache = new ObjectCache(memory, CacheConfig.DEFAULT, nanos::get);
    private final NegativeCache negativeCache = new NegativeCache(nanos::get, cache);

    @AfterEach
    void close() {
        cache.close();
        memory.close();
    }

    private static Rule rule(Freshness freshness) {
        return rule(freshness, Duration.ofMinutes(1), false);
    }

    private static Rule rule(Freshness freshness, Duration remembered, boolean policyDecides) {
        return new Rule("store", freshness, remembered, CacheMode.READS, true,
                ByteCount.UNLIMITED, false, false, false, policyDecides);
    }

    private void learn(Said said) {
        negativeCache.learn(GRANT, said, nanos.get(), cache.writes().epoch(ID));
    }

    private boolean isAbsent(Freshness freshness) {
        return negativeCache.isAbsent(GRANT, rule(freshness), Said.BY_CODE);
    }

    @Test
    void itIsRememberedForFiveSecondsAtMost() {
        learn(Said.BY_CODE);
        nanos.addAndGet(Duration.ofMillis(4999).toNanos());
        assertThat(isAbsent(new Freshness.Immutable())).isTrue();
        assertThat(isAbsent(new Freshness.Exclusive(Duration.ofDays(1)))).isTrue();
        assertThat(isAbsent(new Freshness.Bounded(Duration.ofDays(1)))).isTrue();
        assertThat(isAbsent(new Freshness.Bounded(Duration.ofMillis(4999)))).isFalse();
        assertThat(isAbsent(new Freshness.Strong())).isFalse();
        nanos.addAndGet(Duration.ofMillis(1).toNanos());
        assertThat(isAbsent(new Freshness.Immutable())).isFalse();
    }

    @Test
    void norForLongerThanTheRightToAsk() {
        learn(Said.BY_CODE);
        Freshness freshness = new Freshness.Immutable();
        Rule never = rule(freshness, Duration.ZERO, false);
        assertThat(negativeCache.isAbsent(GRANT, never, Said.BY_CODE)).isFalse();
        assertThat(NegativeCache.isRemembered(never)).isFalse();
        Rule byPolicy = rule(freshness, Duration.ZERO, true);
        assertThat(negativeCache.isAbsent(GRANT, byPolicy, Said.BY_CODE)).isTrue();
        nanos.addAndGet(Duration.ofSeconds(2).toNanos());
        assertThat(negativeCache.isAbsent(GRANT, rule(freshness, Duration.ofSeconds(2), false),
                Said.BY_CODE)).isFalse();
    }

    @Test
    void aStatusIsNotACode() {
        learn(Said.BY_STATUS);
        assertThat(isAbsent(new Freshness.Immutable())).isFalse();
        assertThat(negativeCache.isAbsent(GRANT, rule(new Freshness.Immutable()), Said.BY_STATUS))
                .isTrue();
    }

    @Test
    void aWriteEndsIt() {
        learn(Said.BY_CODE);
        Writes.Write write = cache.writes().begin(ID);
        assertThat(isAbsent(new Freshness.Immutable())).isFalse();
        learn(Said.BY_CODE);
        write.end(WriteOutcome.DONE);
        assertThat(isAbsent(new Freshness.Immutable())).isFalse();
    }

    @Test
    void soDoesAWriteOfTheBucket() {
        learn(Said.BY_CODE);
        nanos.incrementAndGet();
        cache.writes().endInBucket("store", "bucket", WriteOutcome.DONE);
        assertThat(isAbsent(new Freshness.Immutable())).isFalse();
    }

    @Test
    void nothingIsRememberedWhileAWriteMayStillHappen() {
        cache.writes().begin(ID).end(WriteOutcome.UNKNOWN);
        learn(Said.BY_CODE);
        assertThat(isAbsent(new Freshness.Exclusive(Duration.ofDays(1)))).isFalse();
    }
}
