package io.railhead.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.BackendConfig;
import io.railhead.backend.BackendConfig.Fetches;
import io.railhead.backend.BackendConfig.TrailerPolicy;
import io.railhead.backend.BackendRequest;
import io.railhead.backend.Caller;
import io.railhead.backend.Headers;
import io.railhead.backend.Payload;
import io.railhead.backend.Target;
import io.railhead.backend.aws.AwsBackend;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.internal.VertxInternal;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LoopWatchTest {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final long TOO_LONG_NANOS = 3 * LoopWatch.ALLOWED.toNanos() / 2;

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
    private final LoopWatch watch = new LoopWatch();

    @AfterEach
    void end() {
        watch.close();
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }

    private static void compute(long nanos) {
        long until = THREADS.getCurrentThreadCpuTime() + nanos;
        while (THREADS.getCurrentThreadCpuTime() < until) {
            Thread.onSpinWait();
        }
    }

    @Test
    void aTurnThatComputesTooLongIsSeen() {
        watch.watch(((VertxInternal) vertx).eventLoopGroup());
        vertx.runOnContext(_ -> compute(TOO_LONG_NANOS));
        TestGateway.await(() -> !watch.blocked().isEmpty());
        assertThat(watch.blocked()).allSatisfy(seen -> assertThat(seen).contains("computed for"));
    }

    /** What runs when a store has answered runs on a loop of the store's client. */
    @Test
    void soIsOneOfTheStoresClient() {
        CountDownLatch asked = new CountDownLatch(1);
        try (FakeStore store = new FakeStore(); AwsBackend backend = backend(store)) {
            store.put("/b/key", new byte[1]);
            store.fault((_, _) -> !TestGateway.await(asked));
            watch.watch(backend.eventLoops());
            CompletionStage<?> answered = backend
                    .send(new BackendRequest("HEAD", new Target("b", "key", null), Headers.NONE,
                            new Payload.Empty(), new Caller.Anonymous(), null))
                    .thenAccept(_ -> compute(TOO_LONG_NANOS));
            asked.countDown();
            answered.toCompletableFuture().join();
            TestGateway.await(() -> !watch.blocked().isEmpty());
        }
        assertThat(watch.blocked())
                .allSatisfy(seen -> assertThat(seen).startsWith("backend-").contains("computed"));
    }

    private static AwsBackend backend(FakeStore store) {
        return new AwsBackend(new BackendConfig("watched", List.of(store.endpoint()), "us-east-1",
                null, true, PATIENCE, PATIENCE, PATIENCE, 4, 1, TrailerPolicy.AUTO,
                Fetches.of(4), null));
    }

    @Test
    void aLoopThatWaitsTooLongIsSeen() {
        CountDownLatch seen = new CountDownLatch(1);
        vertx.runOnContext(_ -> {
            TestGateway.await(seen);
        });
        TestGateway.await(() -> !watch.blocked().isEmpty());
        seen.countDown();
        assertThat(watch.blocked()).allSatisfy(text -> assertThat(text).contains("await"));
    }

    @Test
    void aLoopThatReadsWhatDoesNotComeIsSeen() throws IOException {
        watch.watch(((VertxInternal) vertx).eventLoopGroup());
        Pipe pipe = Pipe.open();
        try (Pipe.SinkChannel silent = pipe.sink(); Pipe.SourceChannel source = pipe.source()) {
            vertx.runOnContext(_ -> read(source));
            TestGateway.await(() -> !watch.blocked().isEmpty());
            silent.write(ByteBuffer.allocate(1));
        }
        assertThat(watch.blocked()).allSatisfy(seen -> assertThat(seen).contains("system call"));
    }

    private static void read(Pipe.SourceChannel source) {
        try {
            source.read(ByteBuffer.allocate(1));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void aLoopThatHasNothingToDoIsNot() {
        watch.watch(((VertxInternal) vertx).eventLoopGroup());
        long until = System.nanoTime() + 2 * TOO_LONG_NANOS;
        TestGateway.await(() -> System.nanoTime() > until);
        assertThat(watch.blocked()).isEmpty();
    }

    @Test
    void manyShortTurnsAreNotOneLongOne() throws InterruptedException {
        watch.watch(((VertxInternal) vertx).eventLoopGroup());
        CountDownLatch over = new CountDownLatch(100);
        vertx.runOnContext(_ -> again(over));
        over.await();
        assertThat(watch.blocked()).isEmpty();
    }

    private void again(CountDownLatch over) {
        compute(TOO_LONG_NANOS / 30);
        over.countDown();
        if (over.getCount() > 0) {
            vertx.runOnContext(_ -> again(over));
        }
    }
}
