package io.railhead.gateway.object.cacheonly;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.Caller;
import io.railhead.backend.Headers;
import io.railhead.backend.Payload;
import io.railhead.backend.Target;
import io.railhead.cache.CacheConfig;
import io.railhead.cache.CacheOnlyTerms;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.PageMemory;
import io.railhead.gateway.config.ByteCount;
import io.railhead.gateway.config.CacheMode;
import io.railhead.gateway.config.Freshness;
import io.railhead.gateway.config.Rule;
import io.railhead.gateway.s3.S3Refusal;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/** Checks of stores that overtake each other, and uploads that one of them overtakes. */
final class CacheOnlyStoreTest {
    private static final Rule RULE = new Rule("store",
            new Freshness.CacheOnly(new CacheOnlyTerms(Duration.ZERO, false)),
            Duration.ZERO, CacheMode.READS, true, ByteCount.UNLIMITED, false, false, false, true);

    private final AtomicLong nanos = new AtomicLong(1);
    private final PageMemory memory = PageMemory
            .open(new MemoryConfig(4 << 20, 64 << 10, 0, false), slab -> {});
    private final ObjectCache cache = new ObjectCache(memory, CacheConfig.DEFAULT, nanos::get);
    private final CacheOnlyStore store = new CacheOnlyStore(cache, nanos::get,
            InstantSource.system(), 1);
    private @Nullable Subscriber<? super ByteBuffer> body;

    @AfterEach
    void close() {
        cache.close();
        memory.close();
    }

    /** Begins a PUT of one byte, whose body {@link #body} brings. */
    private CompletableFuture<BackendResponse> beginPut() {
        Payload payload = new Payload.Stream(subscriber -> {
            body = subscriber;
            subscriber.onSubscribe(new Subscription() {
                @Override
                public void request(long n) {
                    // The test sends the body when it comes to it.
                }

                @Override
                public void cancel() {
                    // Nothing to release.
                }
            });
        }, 1, "UNSIGNED-PAYLOAD", Map.of());
        return store.of("tenant:a", "a", RULE)
                .send(new BackendRequest("PUT", new Target("kv-a", "k", null), Headers.NONE,
                        payload, new Caller.Anonymous(), null))
                .toCompletableFuture();
    }

    private void endPut() {
        Subscriber<? super ByteBuffer> subscriber = requireNonNull(body);
        subscriber.onNext(ByteBuffer.allocate(1));
        subscriber.onComplete();
    }

    @Test
    void anEarlierCheckChangesNothingAfterALaterOne() {
        long first = store.beginCheck(Set.of("one", "two"));
        long second = store.beginCheck(Set.of("one", "two"));
        store.refuse(second, "one", Set.of("kv-a"));
        store.refuse(first, "one", Set.of());
        store.refuse(first, "two", Set.of("kv-b"));
        assertThat(store.isRefused("kv-a")).isTrue();
        assertThat(store.isRefused("kv-b")).isFalse();
    }

    @Test
    void aStoreThatDoesNotAnswerKeepsItsRefusals() {
        store.refuse(store.beginCheck(Set.of("one", "two")), "one", Set.of("kv-a"));
        long check = store.beginCheck(Set.of("one", "two"));
        store.refuse(check, "two", Set.of());
        assertThat(store.isRefused("kv-a")).isTrue();
        store.refuse(check, "one", Set.of());
        assertThat(store.isRefused("kv-a")).isFalse();
        store.refuse(check, "one", Set.of("kv-a"));
        long _ = store.beginCheck(Set.of("two"));
        assertThat(store.isRefused("kv-a")).as("of a store that is gone").isFalse();
    }

    @Test
    void anUploadThatARefusalOvertakesIsTakenBack() {
        CompletableFuture<BackendResponse> put = beginPut();
        store.refuse(store.beginCheck(Set.of("one")), "one", Set.of("kv-a"));
        endPut();
        assertThatThrownBy(put::join).hasCauseInstanceOf(S3Refusal.class)
                .hasMessageContaining("A store has the bucket kv-a");
        assertThat(cache.cacheOnly().stats().objects()).isZero();
    }

    @Test
    void anUploadThatOtherRulesOvertakeIsTakenBack() {
        CompletableFuture<BackendResponse> put = beginPut();
        store.keepOnly(_ -> false);
        endPut();
        assertThatThrownBy(put::join).hasCauseInstanceOf(S3Refusal.class);
        assertThat(cache.cacheOnly().stats().objects()).isZero();
        store.keepOnly(id -> id.bucket().equals("kv-a"));
        CompletableFuture<BackendResponse> again = beginPut();
        endPut();
        assertThat(again).isCompletedWithValueMatching(answer -> answer.status() == 200);
    }
}
