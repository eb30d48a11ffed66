package io.railhead.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LoopWatchTest {
    private final Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
    private final LoopWatch watch = new LoopWatch();

    @AfterEach
    void end() {
        watch.close();
        vertx.close().toCompletionStage().toCompletableFuture().join();
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
}
