package io.railhead.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.Test;

class WarmUpTest {
    private int turns;

    private RunResult turn(double seconds, double cpu) {
        turns++;
        return new RunResult(seconds, 1000, 1, 0, 0, cpu, 0, 0, 0, "");
    }

    @Test
    void turnsGoOnWhileTheyBecomeCheaper() throws IOException {
        WarmUp.until(() -> turn(2, Math.max(1, 4 - turns)), 2, true);
        assertThat(turns).as("4, 3, 2, 1 and once more").isEqualTo(5);
    }

    @Test
    void shortTurnsAreCountedTogether() throws IOException {
        WarmUp.until(() -> turn(0.25, 1), 2, true);
        assertThat(turns).as("two spans of two seconds").isEqualTo(16);
    }

    @Test
    void onceIsEnoughForWhatDoesNotCompileItself() throws IOException {
        WarmUp.until(() -> turn(0.25, 1), 2, false);
        assertThat(turns).isEqualTo(1);
    }

    @Test
    void itEndsThoughItBecomesCheaperForEver() throws IOException {
        WarmUp.until(() -> turn(2, Math.pow(0.5, turns)), 2, true);
        assertThat(turns).isEqualTo(8);
    }

    @Test
    void aTurnThatFailedIsNotWaitedFor() throws IOException {
        WarmUp.until(() -> {
            turns++;
            return RunResult.failed("no answer");
        }, 2, true);
        assertThat(turns).isEqualTo(2);
    }
}
