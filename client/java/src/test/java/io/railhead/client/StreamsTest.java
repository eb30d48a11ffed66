package io.railhead.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.AbstractList;
import java.util.Collections;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Streams that are closed while they are used. */
class StreamsTest {
    private static final Duration LONG = Duration.ofDays(1);

    @Test
    void whoWaitsForTasksHearsOfTheEnd() throws InterruptedException {
        Streams streams = new Streams(4);
        CountDownLatch begun = new CountDownLatch(4);
        Callable<Boolean> sleeping = () -> {
            begun.countDown();
            Thread.sleep(LONG);
            return true;
        };
        CompletableFuture<Throwable> heard = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            try {
                streams.all(Collections.nCopies(40, sleeping));
            } catch (IOException | RuntimeException e) {
                heard.complete(e);
            }
        });
        begun.await();
        streams.close();
        Awaiting.until("it is heard", heard::isDone);
        assertThat(heard.join()).isInstanceOf(IOException.class);
    }

    @Test
    void anEndBetweenTwoTasksIsNotHeardBeforeTheFirstIsOver() {
        Streams streams = new Streams(2);
        CountDownLatch begun = new CountDownLatch(1);
        AtomicBoolean over = new AtomicBoolean();
        Callable<Boolean> stubborn = () -> {
            begun.countDown();
            try {
                Thread.sleep(LONG);
            } catch (InterruptedException _) {
                Thread.sleep(Duration.ofMillis(200));
            }
            over.set(true);
            return true;
        };
        assertThatThrownBy(() -> streams.all(new AbstractList<Callable<Boolean>>() {
            @Override
            public Callable<Boolean> get(int index) {
                if (index == 1) {
                    try {
                        begun.await();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                    streams.close();
                }
                return stubborn;
            }

            @Override
            public int size() {
                return 3;
            }
        })).isInstanceOf(IOException.class).hasMessage("the client is closed");
        assertThat(over).isTrue();
    }
}
