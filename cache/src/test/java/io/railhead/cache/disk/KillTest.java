package io.railhead.cache.disk;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.os.DirectFile;
import io.railhead.os.RequiresDirectFiles;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A volume whose process is killed by SIGKILL again and again: every page of a sealed segment is
 * found, and none is wrong. {@code -Drailhead.kills=100} kills more often.
 */
@RequiresDirectFiles
final class KillTest {
    private static final int KILLS = Integer.getInteger("railhead.kills", 5);
    /** The open segment, and one that was sealed without a line. */
    private static final int UNSURE = 2;

    @TempDir
    Path folder;

    @Test
    void everySealedPageIsFoundAndNoneIsWrong() throws Exception {
        Random random = new Random(1);
        int next = 0;
        int sealedPages = 0;
        for (int kill = 0; kill < KILLS; kill++) {
            List<Integer> ends = writeUntilKilled(next, 5 + random.nextInt(40));
            sealedPages += check(ends);
            next = ends.getLast() + 200;
        }
        assertThat(sealedPages).isGreaterThan(KILLS * 10);
    }

    /** Returns where sealed segments ended. */
    private List<Integer> writeUntilKilled(int first, int lines) throws IOException {
        Process writer = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED", "-Xmx64m", "-XX:TieredStopAtLevel=1",
                "-cp", System.getProperty("java.class.path"), KilledWriter.class.getName(),
                folder.resolve("disk").toString(), Integer.toString(first))
                .redirectError(new File(folder.toFile(), "errors"))
                .start();
        List<Integer> ends = new ArrayList<>();
        try (BufferedReader out = new BufferedReader(
                new InputStreamReader(writer.getInputStream(), UTF_8))) {
            String line = out.readLine();
            while (line != null) {
                ends.add(Integer.valueOf(line.replace(".", "")));
                if (ends.size() == lines) {
                    // Unlike the process itself, its handle leaves the stream open.
                    boolean _ = writer.toHandle().destroyForcibly();
                }
                // Lines from before the kill count too; the last may be cut.
                line = out.readLine();
                line = line == null || line.endsWith(".") ? line : null;
            }
        } finally {
            writer.destroyForcibly().onExit().join();
        }
        assertThat(ends).hasSizeGreaterThanOrEqualTo(lines);
        return ends;
    }

    private int check(List<Integer> ends) throws DiskRefusedException {
        int kept = ends.get(ends.size() - 1 - (VolumeRig.SEGMENTS - UNSURE));
        try (VolumeRig rig = new VolumeRig(
                DirectFile.open(folder.resolve("disk").toString(), VolumeRig.SIZE))) {
            for (int number = kept; number < ends.getLast(); number++) {
                assertThat(rig.read(number)).as("page " + number)
                        .isEqualTo(VolumeRig.bytes(number));
            }
            // Others may be lost, but not wrong.
            for (int number = Math.max(0, kept - 100); number < ends.getLast() + 100; number++) {
                byte[] read = rig.read(number);
                assertThat(read == null || Arrays.equals(read, VolumeRig.bytes(number))).isTrue();
            }
        }
        return ends.getLast() - kept;
    }
}
