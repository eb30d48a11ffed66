package io.railhead.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.Test;

class WarmingTest {
    private int turns;

    private Measured turn(double seconds, double cpu) {
        turns++;
        return new Measured(seconds, 1000, 1, 0, 0, cpu, 0, 0, 0, "");
    }

    @Test
    void turnsGoOnWhileTheyBecomeCheaper() throws IOException {
        Warming.until(() -> turn(2, Math.max(1, 4 - turns)), 2, true);
        assertThat(turns).as("4, 3, 2, 1 and once more").isEqualTo(5);
    }

    @Test
    void shortTurnsAreCountedTogether() throws IOException {
        Warming.until(() -> turn(0.25, 1), 2, true);
        assertThat(turns).as("two spans of two seconds").isEqualTo(16);
    }

    @Test
    void onceIsEnoughForWhatDoesNotCompileItself() throws IOException {
        Warming.until(() -> turn(0.25, 1), 2, false);
        assertThat(turns).isEqualTo(1);
    }

    @Test
    void itEndsThoughItBecomesCheaperForEver() throws IOException {
        Warming.until(() -> turn(2, Math.pow(0.5, turns)), 2, true);
        assertThat(turns).isEqualTo(8);
    }

    @Test
    void aTurnThatFailedIsNotWaitedFor() throws IOException {
        Warming.until(() -> {
            turns++;
            return Measured.failed("no answer");
        }, 2, true);
        assertThat(turns).isEqualTo(2);
    }
}
