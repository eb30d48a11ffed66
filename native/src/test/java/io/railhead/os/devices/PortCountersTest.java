package io.railhead.os.devices;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Counters of a folder that looks like sysfs. */
class PortCountersTest {
    @TempDir
    Path sysfs;

    private void write(String file, String text) throws IOException {
        Path path = sysfs.resolve("class/infiniband/mlx5_0/ports/1").resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }

    @Test
    void dataIsInBytesAndEventsHaveTheKernelsNames() throws IOException {
        write("counters/port_xmit_data", "250\n");
        write("counters/port_rcv_data", "3\n");
        write("counters/link_downed", "2\n");
        write("hw_counters/link_downed", "7\n");
        write("hw_counters/resp_remote_access_errors", "5\n");
        write("hw_counters/lifespan", "10\n");

        PortCounters counters = PortCounters.read(sysfs, "mlx5_0", 1);
        assertThat(counters.sentBytes()).hasValue(1000);
        assertThat(counters.receivedBytes()).hasValue(12);
        assertThat(counters.events()).containsOnlyKeys("link_downed", "resp_remote_access_errors")
                .containsEntry("link_downed", 2L);
        assertThat(counters.event("resp_remote_access_errors")).isEqualTo(5);
    }

    @Test
    void whatIsNotCountedIsLeftOut() throws IOException {
        write("counters/symbol_error", "N/A (no PMA)\n");
        PortCounters counters = PortCounters.read(sysfs, "mlx5_0", 1);
        assertThat(counters.events()).isEmpty();
        assertThat(counters.sentBytes()).isEqualTo(OptionalLong.empty());
        assertThat(counters.event("symbol_error")).isZero();
    }
}
