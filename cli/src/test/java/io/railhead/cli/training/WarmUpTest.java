package io.railhead.cli.training;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class WarmUpTest {

    @Test
    void requestsAreServedAndNothingIsLeft() throws IOException {
        List<Path> before = folders();
        assertThat(WarmUp.run(Duration.ofSeconds(2))).isPositive();
        assertThat(folders()).isEqualTo(before);
        assertThat(Thread.getAllStackTraces().keySet()).noneMatch(thread -> thread.getName()
                .startsWith("warm-up"));
    }

    /** On a machine that is too slow, the time is over before the first request. */
    @Test
    void noRequestIsServedOnceTheTimeIsOver() {
        assertThat(WarmUp.run(Duration.ofNanos(1))).isZero();
    }

    private static List<Path> folders() throws IOException {
        try (Stream<Path> all = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
            return all
                    .filter(path -> path.getFileName()
                            .toString()
                            .startsWith("railhead-warm-up-" + ProcessHandle.current().pid() + "-"))
                    .sorted()
                    .toList();
        }
    }
}
