package io.railhead.gateway.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.railhead.gateway.metrics.BucketCounts.Total;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class BucketCountsTest {
    @Test
    void whatIsNotKnownIsOneOnceThereAreEnough() {
        BucketCounts counts = new BucketCounts(2);
        counts.succeeded("a");
        counts.delivered("a", 10);
        counts.delivered("b", 20);
        counts.succeeded("c");
        counts.delivered("c", 300);
        counts.failed("d");
        counts.succeeded("a");
        assertThat(counts.totals()).containsExactly(new Total("b", 0, 20), new Total("a", 2, 10),
                new Total(BucketCounts.OTHER, 2, 300));
    }

    @Test
    void whoGuessesNamesTakesNoPlace() {
        BucketCounts counts = new BucketCounts(2);
        IntStream.range(0, 1000).forEach(i -> counts.failed("guess" + i));
        counts.succeeded("a");
        counts.failed("a");
        assertThat(counts.totals()).containsExactly(new Total("a", 2, 0),
                new Total(BucketCounts.OTHER, 1000, 0));
    }

    @Test
    void theFoldIsNoBucket() {
        BucketCounts counts = new BucketCounts(2);
        counts.succeeded(BucketCounts.OTHER);
        counts.succeeded("a");
        counts.succeeded("b");
        assertThat(counts.totals()).extracting(Total::bucket)
                .containsExactly("a", "b", BucketCounts.OTHER);
    }

    @Test
    void nothingIsLostWhateverOrderTheyComeIn() {
        long seed = 31;
        Random random = new Random(seed);
        BucketCounts counts = new BucketCounts(10);
        long bytes = 0;
        for (int i = 0; i < 10_000; i++) {
            String bucket = "b" + (int) Math.abs(random.nextGaussian() * 8);
            int length = random.nextInt(1000);
            bytes += length;
            counts.succeeded(bucket);
            counts.delivered(bucket, length);
        }
        List<Total> totals = counts.totals();
        assertThat(totals).as("seed %d", seed).hasSize(11);
        assertThat(totals.stream().mapToLong(Total::bytes).sum()).isEqualTo(bytes);
        assertThat(totals.stream().mapToLong(Total::requests).sum()).isEqualTo(10_000);
    }

    @Test
    void aKnownBucketAndAFoldedOneCostNoMemory() {
        BucketCounts counts = new BucketCounts(1);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        count(counts, 20_000);
        long before = threads.getCurrentThreadAllocatedBytes();
        count(counts, 100_000);
        assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(100_000);
    }

    private static void count(BucketCounts counts, int times) {
        for (int i = 0; i < times; i++) {
            counts.succeeded("known");
            counts.delivered("known", i);
            counts.succeeded("another");
            counts.delivered("another", i);
        }
    }
}
