package io.railhead.rdma.loopback;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.rdma.Awaiting;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class CopyWorkersTest {
    private final List<String> order = Collections.synchronizedList(new ArrayList<>());

    @Test
    void aLongQueueDoesNotDelayAnotherPrincipal() {
        CountDownLatch go = new CountDownLatch(1);
        try (CopyWorkers workers = new CopyWorkers("test-", 1, 1)) {
            workers.execute(() -> await(go));
            for (int i = 0; i < 100; i++) {
                assertThat(workers.trySubmit("ann", steps("ann", 10))).isTrue();
            }
            assertThat(workers.trySubmit("bob", steps("bob", 3))).isTrue();
            go.countDown();
        }
        assertThat(order).hasSize(1003);
        assertThat(order.subList(0, 6)).containsExactly("ann", "bob", "ann", "bob", "ann", "bob");
    }

    @Test
    void onePrincipalDoesNotHoldAllWorkers() {
        CountDownLatch go = new CountDownLatch(1);
        AtomicInteger running = new AtomicInteger();
        CopyWorkers.Work blocked = () -> {
            running.incrementAndGet();
            await(go);
            return false;
        };
        try (CopyWorkers workers = new CopyWorkers("test-", 3, 2)) {
            for (int i = 0; i < 10; i++) {
                workers.trySubmit("ann", blocked);
            }
            Awaiting.until("two run", () -> running.get() == 2);
            workers.trySubmit("bob", steps("bob", 5));
            Awaiting.until("bob is served", () -> order.size() == 5);
            assertThat(running).hasValue(2);
            go.countDown();
        }
        assertThat(running).hasValue(10);
    }

    @Test
    void choresGoBeforeCopies() {
        CountDownLatch go = new CountDownLatch(1);
        try (CopyWorkers workers = new CopyWorkers("test-", 1, 1)) {
            workers.execute(() -> await(go));
            workers.trySubmit("ann", steps("ann", 1));
            workers.execute(() -> order.add("chore"));
            go.countDown();
        }
        assertThat(order).containsExactly("chore", "ann");
    }

    @Test
    void whatIsQueuedAtTheEndIsDoneAndNothingMoreIsTaken() {
        CopyWorkers workers = new CopyWorkers("test-", 2, 2);
        for (int i = 0; i < 50; i++) {
            workers.trySubmit("p" + i % 5, steps("x", 3));
        }
        workers.close();
        assertThat(order).hasSize(150);
        assertThat(workers.trySubmit("ann", steps("x", 1))).isFalse();
        workers.execute(() -> order.add("late"));
        assertThat(order).endsWith("late");
    }

    @Test
    void aChoreThatFailsDoesNotEndItsWorker() {
        try (CopyWorkers workers = new CopyWorkers("test-", 1, 1)) {
            workers.execute(() -> {
                throw new IllegalStateException("on purpose");
            });
            workers.trySubmit("ann", steps("ann", 1));
        }
        assertThat(order).containsExactly("ann");
    }

    private CopyWorkers.Work steps(String name, int count) {
        AtomicInteger left = new AtomicInteger(count);
        return () -> {
            order.add(name);
            return left.decrementAndGet() > 0;
        };
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
