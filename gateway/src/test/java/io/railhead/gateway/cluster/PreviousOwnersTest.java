package io.railhead.gateway.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cluster.ClusterConfig;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Questions in vain to an owner of before end soon. */
class PreviousOwnersTest {
    private static final ClusterConfig.Address B = new ClusterConfig.Address("10.0.0.2", 7801);
    private static final ClusterConfig.Address C = new ClusterConfig.Address("10.0.0.3", 7801);

    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 1);
    private final PreviousOwners owners = new PreviousOwners(now::get);

    private void pass(Duration time) {
        now.addAndGet(time.toNanos());
    }

    private void misses(int count) {
        for (int i = 0; i < count; i++) {
            owners.ended(B, PeerFetch.Result.NOT_HELD, 0);
        }
    }

    @Test
    void whoMissesAgainAndAgainIsLeftAloneForAMoment() {
        misses(PreviousOwners.MOST_MISSES - 1);
        assertThat(owners.isResting(B)).isFalse();
        misses(1);
        assertThat(owners.isResting(B)).isTrue();
        assertThat(owners.isResting(C)).isFalse();
        pass(PreviousOwners.AFTER_MISSES);
        assertThat(owners.isResting(B)).isFalse();
        misses(PreviousOwners.MOST_MISSES - 1);
        assertThat(owners.isResting(B)).as("they count anew").isFalse();
    }

    @Test
    void whoHoldsSomethingIsAskedOn() {
        for (int i = 0; i < 3; i++) {
            misses(PreviousOwners.MOST_MISSES - 1);
            owners.ended(B, PeerFetch.Result.FILLED, 100);
            misses(PreviousOwners.MOST_MISSES - 1);
            owners.ended(B, PeerFetch.Result.NOT_HELD, 100);
        }
        assertThat(owners.isResting(B)).isFalse();
    }

    /** So one that hangs costs its patience once. */
    @ParameterizedTest
    @EnumSource(value = PeerFetch.Result.class, names = {"SILENT", "UNREACHABLE", "DAMAGED"})
    void whoDoesNotAnswerOrIsWrongIsLeftAloneAtOnce(PeerFetch.Result result) {
        owners.ended(B, result, 0);
        pass(PreviousOwners.AFTER_SILENCE.minusSeconds(1));
        assertThat(owners.isResting(B)).isTrue();
        pass(Duration.ofSeconds(1));
        assertThat(owners.isResting(B)).isFalse();
    }
}
