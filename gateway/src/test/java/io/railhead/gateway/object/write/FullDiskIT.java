package io.railhead.gateway.object.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Logs on a disk without room: who asks hears nothing of it, who operates does. */
class FullDiskIT {
    private static final Path FULL = Path.of("/dev/full");

    @TempDir
    private Path folder;

    /** The device that never has room, since yesterday: root makes one of its own, others share. */
    private Path full() throws Exception {
        Path own = folder.resolve("full");
        new ProcessBuilder("mknod", own.toString(), "c", "1", "7").start().waitFor();
        if (isFull(own)) {
            Files.setLastModifiedTime(own, FileTime.from(Instant.now().minus(Duration.ofDays(1))));
            return own;
        }
        assumeTrue(isFull(FULL), "no " + FULL + ", and none can be made here");
        return FULL;
    }

    private static boolean isFull(Path path) {
        try {
            Files.write(path, new byte[1], StandardOpenOption.WRITE);
            return false;
        } catch (IOException e) {
            return isDevice(path);
        }
    }

    private static boolean isDevice(Path path) {
        return Files.exists(path) && !Files.isRegularFile(path);
    }

    @Test
    void withoutRoomForItsAccessLogItServesOn() throws Exception {
        Path full = full();
        try (FakeStore store = new FakeStore();
                TestGateway gateway = TestGateway.over(store)
                        .config("log: {access: {file: %s}}".formatted(full))
                        .start()) {
            store.put("/b/key", new byte[1000]);
            TestClient client = gateway.client();
            for (int i = 1; i <= 10; i++) {
                int lines = i;
                assertThat(client.get("/b/key").body()).hasSize(1000);
                assertThat(client.put("/b/new", new byte[10]).statusCode()).isEqualTo(200);
                TestGateway.await(
                        () -> gateway.metric("railhead_access_log_lost_lines_total") == 2 * lines);
            }
            assertThat(isDevice(full)).as("what is no file of the log's is never rolled").isTrue();
        }
    }
}
