package io.railhead.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RetiredStoresTest {
    private static final Duration FIRST = Duration.ofMillis(20);

    private final AtomicInteger closed = new AtomicInteger();
    /** What this test holds is reached. */
    private final List<Object> used = new ArrayList<>();
    private final AtomicBoolean idle = new AtomicBoolean(true);

    private RetiredStores.Store store() {
        return new RetiredStores.Store("store", idle::get, closed::incrementAndGet);
    }

    /** A collection stops every thread: many stores, each asking for its own, stopped a gateway. */
    @Test
    void collectionsAreForAllStoresAndEverRarer() {
        AtomicInteger collections = new AtomicInteger();
        long begun = System.nanoTime();
        try (RetiredStores retired = new RetiredStores(collections::incrementAndGet, FIRST)) {
            for (int i = 0; i < 50; i++) {
                used.add(new Object());
                retired.add(used.getLast(), store());
            }
            TestGateway.await(() -> collections.get() >= 4);
        }
        long periods = (System.nanoTime() - begun) / FIRST.toNanos();
        // Of 20, 40, 80 ... milliseconds, whatever a busy machine makes of them.
        assertThat(collections.get()).isLessThanOrEqualTo(64 - Long.numberOfLeadingZeros(periods));
        assertThat(closed).hasValue(50);
    }

    @Test
    void whatIsReachedNoMoreIsClosedOnceItIsIdle() {
        try (RetiredStores retired = new RetiredStores(System::gc, FIRST)) {
            idle.set(false);
            retired.add(new Object(), store());
            retired.add(new Object(), store());
            used.add(new Object());
            retired.add(used.getFirst(), store());
            idle.set(true);
            TestGateway.await(() -> closed.get() == 2);
        }
        assertThat(closed).hasValue(3);
    }

    @Test
    void nothingIsCollectedWhereNothingIsToBeFound() throws InterruptedException {
        AtomicInteger collections = new AtomicInteger();
        try (RetiredStores retired = new RetiredStores(() -> {
            collections.incrementAndGet();
            System.gc();
        }, FIRST)) {
            retired.add(new Object(), store());
            TestGateway.await(() -> closed.get() == 1);
            int then = collections.get();
            Thread.sleep(FIRST.multipliedBy(5));
            assertThat(collections).hasValue(then);
        }
    }
}
