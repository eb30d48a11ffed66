package io.railhead.gateway.object.writeback;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Keys that a request without a clear answer may still change. */
class UnclearKeysTest {
    private static final long DOUBT = BucketQueue.DOUBT.toNanos();

    private final UnclearKeys keys = new UnclearKeys();

    @Test
    void aKeyIsUnclearForATime() {
        keys.add("a", -5);
        assertThat(keys.leftNanos("a", -5)).isEqualTo(DOUBT);
        assertThat(keys.leftNanos("b", -5)).isZero();
        assertThat(keys.leftNanos("a", DOUBT - 6)).isEqualTo(1);
        assertThat(keys.leftNanos("a", DOUBT - 5)).isZero();
    }

    @Test
    void theLatestDoubtOfAKeyCounts() {
        keys.add("a", 0);
        keys.add("b", 1);
        keys.add("a", 2);
        assertThat(keys.leftNanos("a", DOUBT + 1)).isEqualTo(1);
        assertThat(keys.leftNanos("b", DOUBT + 1)).isZero();
    }

    @Test
    void aRequestOfNoOneKeyIsAboutAll() {
        keys.add("", 0);
        assertThat(keys.leftNanos("a", 1)).isEqualTo(DOUBT - 1);
    }

    @Test
    void ofTooManyAllKeysCount() {
        for (int i = 0; i < 10_000; i++) {
            keys.add("key-" + i, i);
        }
        assertThat(keys.leftNanos("another", 10_000)).isZero();
        keys.add("one-more", 10_000);
        assertThat(keys.leftNanos("key-0", 10_000)).isEqualTo(DOUBT);
        assertThat(keys.leftNanos("another", 10_000)).isEqualTo(DOUBT);
    }
}
