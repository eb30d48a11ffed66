package io.railhead.os;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class HostLimitsTest {
    private static final ProcFields MEMINFO = ProcFields.parse(List.of("MemAvailable:  2048 kB",
            "HugePages_Free:  3", "Hugepagesize:  2048 kB"));
    private static final ProcFields NO_CAPABILITY = ProcFields.parse(List.of("CapEff:\t0000"));

    @Test
    void thisMachineHasMemory() {
        assertThat(HostLimits.read().availableBytes()).isPositive();
        assertThat(HostLimits.read().memlockBytes()).isNotNegative();
    }

    @Test
    void freeHugePagesAreAvailable() {
        assertThat(HostLimits.of(MEMINFO, Long.MAX_VALUE, NO_CAPABILITY, 1))
                .isEqualTo(new HostLimits(8L << 20, 1));
    }

    @Test
    void aControlGroupLimitsWhatTheMachineHas() {
        assertThat(HostLimits.of(MEMINFO, 5, NO_CAPABILITY, 1).availableBytes()).isEqualTo(5);
    }

    @Test
    void lockingIsUnlimitedByRlimitOrByCapability() {
        ProcFields capable = ProcFields.parse(List.of("CapEff:\t0000000000004000"));
        assertThat(HostLimits.of(MEMINFO, 5, capable, 1).memlockBytes()).isEqualTo(Long.MAX_VALUE);
        assertThat(HostLimits.of(MEMINFO, 5, NO_CAPABILITY, -1).memlockBytes())
                .isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void theTightestGroupOnTheWayUpCounts(@TempDir Path mount) throws IOException {
        Path parent = Files.createDirectories(mount.resolve("pod"));
        Path child = Files.createDirectories(parent.resolve("container"));
        Files.writeString(parent.resolve("memory.max"), "1000\n");
        Files.writeString(parent.resolve("memory.current"), "700\n");
        Files.writeString(parent.resolve("memory.stat"), "anon 600\ninactive_file 100\n");
        Files.writeString(child.resolve("memory.max"), "max\n");
        assertThat(ControlGroup.remainingBytes(List.of("0::/pod/container"), mount)).isEqualTo(400);
        assertThat(ControlGroup.remainingBytes(List.of("0::/"), mount)).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void theFirstVersionOfControlGroupsIsReadToo(@TempDir Path mount) throws IOException {
        Path group = Files.createDirectories(mount.resolve("memory/app"));
        Files.writeString(group.resolve("memory.limit_in_bytes"), "1000\n");
        Files.writeString(group.resolve("memory.usage_in_bytes"), "900\n");
        assertThat(ControlGroup.remainingBytes(List.of("5:cpu:/", "4:memory:/app"), mount))
                .isEqualTo(100);
    }
}
