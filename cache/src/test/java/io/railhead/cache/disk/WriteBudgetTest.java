package io.railhead.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** A write budget that tenants share; the clock is the test's. */
final class WriteBudgetTest {
    private static final long PAGE = 1 << 20;
    /** Ten pages a minute. */
    private static final long PER_DAY = 10L * 60 * 24 * PAGE;
    private static final int MINUTES = 20 * 60;

    private final AtomicLong clock = new AtomicLong();
    private final Map<String, Long> written = new HashMap<>();

    /** Lets tenants ask, each so often a minute, for twenty hours. */
    private void run(Map<String, Integer> asking) {
        WriteBudget budget = new WriteBudget(PER_DAY, clock::get);
        Random random = new Random(1);
        for (int minute = 0; minute < MINUTES; minute++) {
            clock.addAndGet(Duration.ofMinutes(1).toNanos());
            asking.forEach((tenant, count) -> {
                for (int i = 0; i < count; i++) {
                    if (budget.trySpend(tenant, PAGE, random.nextDouble())) {
                        written.merge(tenant, 1L, Long::sum);
                    }
                }
            });
        }
    }

    private double part(String tenant) {
        return written.getOrDefault(tenant, 0L) / (10.0 * MINUTES);
    }

    @Test
    void aTenantAloneHasAllOfIt() {
        run(Map.of("one", 1000));
        assertThat(part("one")).isBetween(0.95, 1.06);
    }

    @Test
    void aFloodLeavesAnotherTenantItsShare() {
        run(Map.of("flood", 1000, "small", 4));
        // Each page of the small one has a chance of a half at least.
        assertThat(part("small")).isGreaterThan(0.2 * 0.9);
        assertThat(part("flood") + part("small")).isBetween(0.9, 1.06);
    }

    @Test
    void twoFloodsShareItEvenly() {
        run(Map.of("flood", 1000, "other", 100));
        assertThat(part("flood")).isBetween(0.4, 0.6);
        assertThat(part("other")).isBetween(0.4, 0.6);
    }
}
