package io.railhead.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.cli.local.Children;
import io.railhead.cli.local.ProcessCpu;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The demo's pieces; the demo as a whole is run by the build's own check. */
class DemoPartsTest {
    @TempDir
    Path folder;

    @Test
    void filesAreTakenUntilTheLimitAndTheLastIsCut() throws IOException {
        Path a = Files.write(folder.resolve("a"), new byte[100]);
        Path b = Files.write(folder.resolve("b"), new byte[100]);
        Path empty = Files.write(folder.resolve("empty"), new byte[0]);

        DemoFiles files = DemoFiles.choose(List.of(empty, a, b), 150, folder);

        assertThat(files.bytes()).isEqualTo(150);
        assertThat(files.files()).extracting(DemoFiles.DemoFile::key).containsExactly("0/a", "1/b");
        assertThat(files.files().getLast().file()).hasSize(50);
    }

    @Test
    void nothingToReadIsSaid() {
        assertThatThrownBy(() -> DemoFiles.choose(List.of(), 1, folder))
                .hasMessageContaining("no file");
    }

    @Test
    void closingEndsTheProcessesAndDeletesTheFolder() throws IOException {
        Path scratch = Files.createDirectory(folder.resolve("scratch"));
        Children children = new Children(scratch);
        Process process = children.java("forever", List.of("--version"), Map.of(),
                ProcessBuilder.Redirect.appendTo(children.log("forever").toFile()));

        children.close();
        children.close();

        assertThat(process.isAlive()).isFalse();
        assertThat(scratch).doesNotExist();
    }

    @Test
    void processorTimeGrowsWithWork() throws IOException {
        ProcessCpu cpu = ProcessCpu.ofThis();
        double before = cpu.seconds();
        long deadline = System.nanoTime() + 30_000_000_000L;
        Random random = new Random(1);
        while (cpu.seconds() == before && System.nanoTime() < deadline) {
            random.nextBytes(new byte[100_000]);
        }
        assertThat(cpu.seconds()).isGreaterThan(before);
    }
}
