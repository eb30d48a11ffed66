package io.railhead.os;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class HostLimitsTest {
    private static final ProcFields MEMINFO = ProcFields.parse(List.of("MemAvailable:  2048 kB"));
    private static final ProcFields NO_CAPABILITY = ProcFields.parse(List.of("CapEff:\t0000"));

    @Test
    void thisMachineHasMemory() {
        assertThat(HostLimits.read().availableBytes()).isPositive();
        assertThat(HostLimits.read().memlockBytes()).isNotNegative();
    }

    @Test
    void whatTheKernelCanGiveIsAvailable() {
        assertThat(HostLimits.of(MEMINFO, Long.MAX_VALUE, NO_CAPABILITY, 1))
                .isEqualTo(new HostLimits(2L << 20, 1));
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
        assertThat(ControlGroup.limitBytes(List.of("0::/pod/container"), mount))
                .isGreaterThan(400)
                .isLessThan(Long.MAX_VALUE);
        assertThat(ControlGroup.remainingBytes(List.of("0::/"), mount)).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void hugePagesAreThoseNobodyWasPromisedWithinTheGroupsLimit(@TempDir Path root)
            throws IOException {
        Path pool = Files.createDirectories(
                root.resolve("sys/kernel/mm/hugepages/hugepages-2048kB"));
        Files.writeString(pool.resolve("nr_hugepages"), "20\n");
        Files.writeString(pool.resolve("free_hugepages"), "9\n");
        Files.writeString(pool.resolve("resv_hugepages"), "2\n");
        assertThat(HugePages.read(root, HugePageSize.MIB_2))
                .isEqualTo(new HugePages(HugePageSize.MIB_2, 20, 7, Long.MAX_VALUE));

        Path group = Files.createDirectories(root.resolve("sys/fs/cgroup/pod"));
        Files.createDirectories(root.resolve("proc/self"));
        Files.writeString(root.resolve("proc/self/cgroup"), "0::/pod\n");
        Files.writeString(group.resolve("hugetlb.2MB.max"), "8388608\n");
        Files.writeString(group.resolve("hugetlb.2MB.current"), "2097152\n");
        assertThat(HugePages.read(root, HugePageSize.MIB_2).groupBytes()).isEqualTo(6L << 20);
        assertThat(HugePages.read(root, HugePageSize.GIB_1))
                .isEqualTo(new HugePages(HugePageSize.GIB_1, 0, 0, Long.MAX_VALUE));
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
