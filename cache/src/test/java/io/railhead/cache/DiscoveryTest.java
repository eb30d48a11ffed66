package io.railhead.cache;

import static io.railhead.cache.CacheRig.RUN;
import static io.railhead.cache.CacheRig.id;
import static io.railhead.cache.CacheRig.random;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.memory.LeakCheck;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class DiscoveryTest {
    private static final ObjectId ID = id("cold");

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private static Discovery await(CompletionStage<Discovery> stage) {
        return stage.toCompletableFuture().orTimeout(30, TimeUnit.SECONDS).join();
    }

    @Test
    void allWhoAskShareOneFlightAndItsBody() {
        CacheRig rig = CacheRig.of(leaks, 64);
        byte[] bytes = random(1, RUN + 100);
        rig.source.put(ID, bytes, "1");
        rig.source.hold();
        DiscoverySource source = rig.source.discovering(rig.cache, ID, RUN);
        CompletionStage<Discovery> owner = rig.cache.discover(ID, "", source);
        CompletionStage<Discovery> joiner = rig.cache.discover(ID, "", flight -> {
            throw new AssertionError("a second request was sent");
        });
        rig.source.release();
        assertThat(await(owner).own()).isTrue();
        assertThat(await(joiner).own()).isFalse();
        ObjectVersion version = requireNonNull(await(joiner).metadata()).version();
        assertThat(rig.readAll(version).awaitBytes()).isEqualTo(bytes);
        assertThat(rig.source.fetches())
                .containsExactly(new MemorySource.Fetch(version, RUN, 100));
    }

    /** Whoever finds the metadata, without having joined the flight, finds its pages in flight. */
    @Test
    void whoReadsAtOnceFetchesNothingAgain() throws Exception {
        CacheRig rig = CacheRig.of(leaks, 64);
        AtomicReference<ObjectId> next = new AtomicReference<>(id("o0"));
        AtomicReference<ObjectId> read = new AtomicReference<>(id("none"));
        AtomicBoolean over = new AtomicBoolean();
        byte[] bytes = random(1, RUN);
        try (ExecutorService threads = Executors.newSingleThreadExecutor()) {
            Future<?> reading = threads.submit(() -> {
                while (!over.get()) {
                    ObjectMetadata found = rig.cache.find(next.get());
                    if (found != null && !found.version().object().equals(read.get())) {
                        assertThat(rig.readAll(found.version()).awaitBytes()).isEqualTo(bytes);
                        read.set(found.version().object());
                    }
                }
            });
            for (int i = 0; i < 1000; i++) {
                ObjectId cold = id("o" + i);
                rig.source.put(cold, bytes, "1");
                next.set(cold);
                await(rig.cache.discover(cold, "", rig.source.discovering(rig.cache, cold, RUN)));
                CacheRig.await(() -> read.get().equals(cold));
                rig.cache.evict(cold);
            }
            over.set(true);
            reading.get();
        }
        assertThat(rig.source.fetches()).isEmpty();
    }

    @Test
    void aShortObjectIsWhollyFilledByItsDiscovery() {
        CacheRig rig = CacheRig.of(leaks, 64);
        byte[] bytes = random(2, 4097);
        rig.source.put(ID, bytes, "1");
        Discovery discovery = await(
                rig.cache.discover(ID, "", rig.source.discovering(rig.cache, ID, RUN)));
        ObjectVersion version = requireNonNull(discovery.metadata()).version();
        assertThat(rig.readAll(version).awaitBytes()).isEqualTo(bytes);
        assertThat(rig.source.fetches()).isEmpty();
        assertThat(rig.cache.find(ID)).isNotNull();
    }

    @Test
    void aBodyThatEndsInMidPageFillsItsWholePages() {
        CacheRig rig = CacheRig.of(leaks, 64);
        byte[] bytes = random(3, RUN);
        rig.source.put(ID, bytes, "1");
        long length = 2L * CacheRig.PAGE + 1000;
        Discovery discovery = await(
                rig.cache.discover(ID, "", rig.source.discovering(rig.cache, ID, length)));
        ObjectVersion version = requireNonNull(discovery.metadata()).version();
        assertThat(rig.readAll(version).awaitBytes()).isEqualTo(bytes);
        assertThat(rig.source.fetches()).containsExactly(
                new MemorySource.Fetch(version, 2L * CacheRig.PAGE, 2L * CacheRig.PAGE));
    }

    @Test
    void aFailedFlightIsGoneAndTheNextCallStartsAnew() {
        CacheRig rig = CacheRig.of(leaks, 64);
        Discovery failed = await(
                rig.cache.discover(ID, "", rig.source.discovering(rig.cache, ID, RUN)));
        assertThat(failed).isEqualTo(new Discovery(null, true));
        rig.source.put(ID, random(4, 10), "1");
        Discovery found = await(
                rig.cache.discover(ID, "", rig.source.discovering(rig.cache, ID, RUN)));
        assertThat(found.metadata()).isNotNull();
        assertThat(found.own()).isTrue();
    }
}
