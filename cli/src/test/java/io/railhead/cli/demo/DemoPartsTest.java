package io.railhead.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.cli.local.Children;
import io.railhead.cli.local.ProcessCpu;
import io.railhead.cli.reading.SourceFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
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
        assertThat(files.files()).extracting(SourceFile::key).containsExactly("0/a", "1/b");
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

    /** Starts a child, says which, and waits to be killed. */
    static final class Parent {
        private Parent() {}

        public static void main(String[] words) throws Exception {
            Children children = new Children(Path.of(words[0]));
            Process ended = start(children, "true");
            ended.waitFor();
            Process child = start(children, "sleep", "600");
            Process stubborn = start(children, "sh", "-c",
                    "trap '' TERM; echo ready; while :; do sleep 1; done");
            while (!Files.readString(children.log("sh")).contains("ready")) {
                Thread.sleep(10);
            }
            System.out.println(child.pid() + " " + stubborn.pid());
            child.waitFor();
        }

        private static Process start(Children children, String... command) throws IOException {
            return children.start(command[0], List.of(command), Map.of(),
                    ProcessBuilder.Redirect.appendTo(children.log(command[0]).toFile()));
        }
    }

    @Test
    @Timeout(120)
    void childrenEndWithAParentThatIsKilled() throws Exception {
        Path scratch = Files.createDirectory(folder.resolve("scratch"));
        Process parent = new ProcessBuilder(Children.javaProgram(), "-cp",
                System.getProperty("java.class.path"), Parent.class.getName(), scratch.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        List<ProcessHandle> children = new ArrayList<>();
        try {
            for (String pid : parent.inputReader().readLine().split(" ", -1)) {
                children.add(ProcessHandle.of(Long.parseLong(pid)).orElseThrow());
            }
            parent.destroyForcibly();

            while (children.stream().anyMatch(DemoPartsTest::runs) || Files.exists(scratch)) {
                Thread.sleep(10);
            }
        } finally {
            parent.destroyForcibly();
            children.forEach(ProcessHandle::destroyForcibly);
        }
    }

    /** A zombie does not: nobody may reap it where this test's init does not. */
    private static boolean runs(ProcessHandle process) {
        try {
            return !Files.readString(Path.of("/proc/" + process.pid() + "/stat"))
                    .contains(") Z ");
        } catch (IOException e) {
            return false;
        }
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
