package io.railhead.rdma.channel;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class AdaptiveSpinTest {

    @Test
    void whoWaitsLongStopsTurningAndWhoWaitsShortTurnsAgain() {
        AdaptiveSpin spin = new AdaptiveSpin(1000);
        assertThat(spin.allowanceNanos()).isEqualTo(1000);
        for (int i = 0; i < 10; i++) {
            spin.waited(1_000_000);
        }
        assertThat(spin.allowanceNanos()).isZero();
        spin.waited(1000);
        assertThat(spin.allowanceNanos()).isEqualTo(1000);
        spin.waited(1001);
        assertThat(spin.allowanceNanos()).isEqualTo(500);
    }
}
