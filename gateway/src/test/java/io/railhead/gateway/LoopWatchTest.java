package io.railhead.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.internal.VertxInternal;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LoopWatchTest {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final long TOO_LONG_NANOS = 3 * LoopWatch.ALLOWED.toNanos() / 2;

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

    @Test
    void aLoopThatWaitsTooLongIsSeen() {
        CountDownLatch seen = new CountDownLatch(1);
        vertx.runOnContext(_ -> {
            try {
                seen.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
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
