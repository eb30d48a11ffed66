package io.railhead.os;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The two devices that {@code deploy/soft-roce/run} promises. */
@Tag("verbs")
final class SoftRoceTest {
    private static final Path DEVICES = Path.of("/sys/class/infiniband");

    @BeforeEach
    void devices() {
        assumeTrue(
                Files.isDirectory(DEVICES) || "1".equals(System.getenv("RAILHEAD_REQUIRE_VERBS")),
                "this kernel has no RDMA devices; deploy/soft-roce/test runs this where there are two");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void aDeviceOfTheRigHasAnActivePortAndItsAddress(int index) throws IOException {
        String devices = System.getenv("RAILHEAD_RIG_DEVICES");
        assumeTrue(devices != null, "not in deploy/soft-roce/run");
        String device = List.of(devices.split(" ", -1)).get(index);
        Path port = DEVICES.resolve(device).resolve("ports/1");
        assertThat(port.resolve("state")).content().isEqualTo("4: ACTIVE\n");
        assertThat(port.resolve("gids/1")).content()
                .isEqualTo("0000:0000:0000:0000:0000:ffff:0a63:%04x%n".formatted(index + 1));
        assertThat(port.resolve("gid_attrs/types/1")).content().isEqualTo("RoCE v2\n");
    }
}
