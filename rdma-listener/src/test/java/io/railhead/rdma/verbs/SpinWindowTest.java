package io.railhead.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class SpinWindowTest {

    @Test
    void longSleepsEndTheSpinningAndShortOnesBringItBack() {
        SpinWindow window = new SpinWindow(8000);
        for (int i = 0; i < 20; i++) {
            window.slept(1_000_000);
        }
        assertThat(window.nanos()).isZero();
        window.slept(8000);
        assertThat(window.nanos()).isEqualTo(1000);
        for (int i = 0; i < 20; i++) {
            window.slept(100);
            assertThat(window.nanos()).isLessThanOrEqualTo(8000);
        }
        assertThat(window.nanos()).isEqualTo(8000);
    }

    @Test
    void aWindowOfNothingStaysSo() {
        SpinWindow window = new SpinWindow(0);
        window.slept(0);
        assertThat(window.nanos()).isZero();
    }
}
