package io.railhead.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class CoresTest {

    @Test
    void aServerThatChoseCoresOfItsOwnIsBroughtBack() throws Exception {
        Cores halves = Cores.halves();
        assumeTrue(halves.isPinned(), "one core, or no taskset");
        Process strayed = new ProcessBuilder("sleep", "60").start();
        try {
            halves.holdOnServer(List.of(strayed.pid()));

            assertThat(Cores.allowed(
                    Files.readString(Path.of("/proc/" + strayed.pid() + "/status"))))
                    .hasSize(halves.serverCount());
        } finally {
            strayed.destroyForcibly();
        }
    }
}
