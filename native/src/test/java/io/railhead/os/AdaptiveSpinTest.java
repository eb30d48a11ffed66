package io.railhead.os;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class AdaptiveSpinTest {

    @Test
    void whoTurnsForNothingStopsAndTriesAgainNowAndThen() {
        AdaptiveSpin spin = new AdaptiveSpin(1000);
        assertThat(spin.allowanceNanos()).isEqualTo(1000);
        long turned = 0;
        for (int i = 0; i < 6400; i++) {
            spin.slept();
            turned += spin.allowanceNanos();
        }
        assertThat(turned).isBetween(100 * 1000L, 202 * 1000L);
        spin.slept();
        spin.slept();
        spin.found();
        assertThat(spin.allowanceNanos()).isEqualTo(1000);
        spin.slept();
        assertThat(spin.allowanceNanos()).isEqualTo(500);
    }
}
