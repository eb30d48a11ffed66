package io.railhead.gateway.trust;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PressureClockTest {
    @TempDir
    Path folder;

    @Test
    void theTimeInWhichSomeTaskWaitedForAProcessorDoesNotCount() throws IOException {
        Path pressure = Files.writeString(folder.resolve("cpu"), """
                some avg10=96.08 avg60=95.81 avg300=89.61 total=7
                full avg10=0.00 avg60=0.00 avg300=0.00 total=3
                """);
        assertThat(new PressureClock(() -> 10_000, pressure).getAsLong()).isEqualTo(3_000);
    }

    @Test
    void withoutThatItIsTheOtherClock() {
        assertThat(new PressureClock(() -> 10_000, folder.resolve("none")).getAsLong())
                .isEqualTo(10_000);
    }
}
