package io.railhead.backend;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TokenBucketTest {
    private static final long SECOND = 1_000_000_000;

    private final AtomicLong clock = new AtomicLong(-5 * SECOND);

    private TokenBucket bucket(long perSecond) {
        return new TokenBucket(perSecond, clock::get);
    }

    private static int takeAll(TokenBucket bucket) {
        int taken = 0;
        while (bucket.tryTake()) {
            taken++;
        }
        return taken;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 3, 7, 10, 1000, 50_000})
    void aFullBucketHoldsTheTokensOfOneSecond(long perSecond) {
        TokenBucket bucket = bucket(perSecond);
        assertThat(takeAll(bucket)).isEqualTo((int) perSecond);
        clock.addAndGet(100 * SECOND);
        assertThat(bucket.isFull()).isTrue();
        assertThat(takeAll(bucket)).isEqualTo((int) perSecond);
    }

    @Test
    void itFillsAtItsRate() {
        TokenBucket bucket = bucket(10);
        takeAll(bucket);
        clock.addAndGet(SECOND / 2);
        assertThat(takeAll(bucket)).isEqualTo(5);
    }

    @Test
    void whatIsChargedMayBeDebtWhichIsPaidFirst() {
        TokenBucket bucket = bucket(1000);
        bucket.charge(10_000);
        assertThat(bucket.hasTokens()).isFalse();
        assertThat(bucket.retrySeconds()).isEqualTo(10);
        clock.addAndGet(9 * SECOND);
        assertThat(bucket.hasTokens()).isFalse();
        assertThat(bucket.retrySeconds()).isEqualTo(1);
        clock.addAndGet(SECOND / 1000);
        assertThat(bucket.hasTokens()).isTrue();
    }

    @Test
    void noDebtOverflows() {
        TokenBucket bucket = bucket(1);
        for (int i = 0; i < 1000; i++) {
            bucket.charge(Long.MAX_VALUE);
        }
        assertThat(bucket.retrySeconds()).isEqualTo(24 * 3600);
        clock.addAndGet(24 * 3600 * SECOND);
        assertThat(bucket.isFull()).isTrue();
    }

    /** Against a count of tokens that time adds to. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void itIsAsACountOfTokensWouldBe(long seed) {
        Random random = new Random(seed);
        long perSecond = 1L << random.nextInt(10);
        TokenBucket bucket = bucket(perSecond);
        double tokens = perSecond;
        for (int step = 0; step < 20_000; step++) {
            long nanos = random.nextLong(2 * SECOND / perSecond);
            clock.addAndGet(nanos);
            tokens = Math.min((double) perSecond, tokens + (double) nanos * perSecond / SECOND);
            boolean isClose = Math.abs(tokens - 1) < 1e-3;
            if (random.nextInt(20) == 0) {
                long charged = random.nextLong(3 * perSecond);
                bucket.charge(charged);
                tokens -= charged;
            } else if (!isClose) {
                boolean expected = tokens >= 1;
                assertThat(bucket.tryTake()).as("seed %d, step %d", seed, step).isEqualTo(expected);
                tokens -= expected ? 1 : 0;
            }
        }
    }

    @Test
    void whatIsGivenBackIsNoDebtAndNoMoreThanABucketHolds() {
        TokenBucket bucket = bucket(10);
        bucket.charge(1000);
        assertThat(bucket.hasTokens()).isFalse();
        clock.addAndGet(5 * SECOND);
        bucket.giveBack(1000);
        assertThat(takeAll(bucket)).isEqualTo(10);
    }

    @Test
    void threadsTogetherTakeNoMoreThanItHolds() throws Exception {
        TokenBucket bucket = bucket(10_000);
        AtomicInteger taken = new AtomicInteger();
        CountDownLatch start = new CountDownLatch(1);
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = Thread.ofPlatform().start(() -> {
                try {
                    start.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
                taken.addAndGet(takeAll(bucket));
            });
        }
        start.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(taken.get()).isEqualTo(10_000);
    }
}
