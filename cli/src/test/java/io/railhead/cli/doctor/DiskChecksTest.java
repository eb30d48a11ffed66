package io.railhead.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.disk.DiskFormat;
import io.railhead.cli.doctor.Finding.Mark;
import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.identity.CredentialStore;
import io.railhead.os.DirectFile;
import io.railhead.os.RequiresDirectFiles;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of the disk tier as the doctor finds them, each with its mend. */
@RequiresDirectFiles
final class DiskChecksTest {
    @TempDir
    private Path folder;

    private String disk() {
        return folder.resolve("disk").toString();
    }

    private List<Finding> look(String paths, String size, boolean gatewayRuns) throws Exception {
        return look(Host.local(), paths, size, gatewayRuns);
    }

    private List<Finding> look(Host host, String paths, String size, boolean gatewayRuns)
            throws Exception {
        Files.writeString(folder.resolve("credentials.yaml"), "");
        Path config = Files.writeString(folder.resolve("railhead.yaml"), """
                gateway: {credentials: credentials.yaml, health: "127.0.0.1:9001"}
                cache: {memory: 64MiB, disk: {paths: ["%s"], size: %s}}
                backends: {a: {endpoints: ["http://s3"]}}
                """.formatted(paths, size));
        Site site = new Site(host, ConfigLoader.load(config), CredentialStore.none(),
                Map.of());
        List<Finding> findings = DiskChecks
                .parts(site, gatewayRuns
                        ? Optional.of(new RunningGateway(""))
                        : Optional.empty())
                .stream()
                .flatMap(part -> part.look().get().stream())
                .toList();
        assertThat(findings).allSatisfy(finding -> assertThat(finding.mend().isEmpty())
                .as(finding.found())
                .isEqualTo(finding.mark() == Mark.OK));
        return findings;
    }

    private Finding refusal(String paths, String size) throws Exception {
        return look(paths, size, false).stream()
                .filter(finding -> finding.mark() == Mark.FAIL)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aFileThatIsNotThereYetIsTriedAndLeavesNothing() throws Exception {
        List<Finding> findings = look(disk(), "200MiB", false);
        assertThat(findings).noneMatch(finding -> finding.mark() == Mark.FAIL);
        assertThat(findings).anyMatch(finding -> finding.found().contains("can be made"))
                .anyMatch(finding -> finding.found().matches(".* reads \\d+ MiB/s, writes .*"))
                .anyMatch(finding -> finding.found().contains("outside the heap"));
        try (Stream<Path> left = Files.list(folder)) {
            assertThat(left.map(each -> each.getFileName().toString()))
                    .containsExactlyInAnyOrder("credentials.yaml", "railhead.yaml");
        }
    }

    @Test
    void aShortFileThatHoldsSomethingIsRefusedAndKept() throws Exception {
        Path file = Files.writeString(folder.resolve("disk"), "important\n");
        Path beside = Files.writeString(folder.resolve("disk.trial"), "mine\n");
        assertThat(refusal(disk(), "200MiB").mend()).startsWith("railhead disk format");
        assertThat(file).hasContent("important\n");
        Files.delete(file);
        assertThat(look(disk(), "200MiB", false)).noneMatch(each -> each.mark() == Mark.FAIL);
        assertThat(beside).hasContent("mine\n");
    }

    @Test
    void contentOfAnotherKindNamesTheCommandThatDropsIt() throws Exception {
        try (RandomAccessFile file = new RandomAccessFile(disk(), "rw")) {
            file.setLength(200 << 20);
            file.writeBytes("XFSB");
        }
        Finding refusal = refusal(disk(), "200MiB");
        assertThat(refusal.found()).contains("XFS");
        assertThat(refusal.mend()).startsWith("railhead disk format " + disk());
    }

    @Test
    void anotherProcessIsNamedUnlessItIsTheGateway() throws Exception {
        try (DirectFile _ = DirectFile.open(disk(), 200 << 20)) {
            assertThat(refusal(disk(), "200MiB").found()).contains("another process uses it",
                    "pid " + ProcessHandle.current().pid());
            Host both = processes(Map.of("42", List.of("socket:[9]", disk()), "43", List.of()));
            assertThat(look(both, disk(), "200MiB", true))
                    .noneMatch(finding -> finding.mark() != Mark.OK)
                    .anyMatch(finding -> finding.found().contains("the gateway that runs here")
                            && finding.found().contains("pid 42"));
            Host other = processes(Map.of("42", List.of("socket:[9]"), "43", List.of(disk())));
            assertThat(look(other, disk(), "200MiB", true)).filteredOn(Finding::mark, Mark.FAIL)
                    .singleElement()
                    .satisfies(finding -> assertThat(finding.found()).contains("pid 43",
                            "is not the gateway that runs here", "pid 42"));
            Host hidden = processes(Map.of("42", List.of("socket:[9]")));
            assertThat(look(hidden, disk(), "200MiB", true)).filteredOn(Finding::mark, Mark.WARN)
                    .singleElement()
                    .satisfies(finding -> assertThat(finding.mend()).contains("as root"));
        }
    }

    /** Makes a machine on which socket 9 is the one that listens on port 9001. */
    private Host processes(Map<String, List<String>> files) throws Exception {
        Path root = Files.createTempDirectory(folder, "root");
        Path net = Files.createDirectories(root.resolve("proc/net"));
        Files.writeString(net.resolve("tcp"), """
                sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt uid
                0: 0100007F:2329 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 9 1
                """);
        for (Map.Entry<String, List<String>> process : files.entrySet()) {
            Path fds = Files.createDirectories(root.resolve("proc/" + process.getKey() + "/fd"));
            for (int i = 0; i < process.getValue().size(); i++) {
                Files.createSymbolicLink(fds.resolve(Integer.toString(i)),
                        Path.of(process.getValue().get(i)));
            }
        }
        return Host.below(root);
    }

    @Test
    void aChangeThatDropsThePagesIsToldBeforeTheStart() throws Exception {
        try (DiskFormat disk = DiskFormat.open(disk(), 200 << 20)) {
            assertThat(disk.format(256 << 10).volume()).isNotNull();
        }
        assertThat(look(disk(), "200MiB", false)).allMatch(each -> each.mark() == Mark.OK
                || !each.found().contains("drops"));
        Finding told = look(disk(), "201MiB", false).stream()
                .filter(each -> each.found().contains("drops its pages"))
                .findFirst()
                .orElseThrow();
        assertThat(told.mark()).isEqualTo(Mark.WARN);
        assertThat(told.mend()).contains("cache.disk.size");
    }

    @Test
    void aFileSystemWithoutRoomIsToldBeforeTheStart() throws Exception {
        Finding refusal = refusal(disk(), "15TiB");
        assertThat(refusal.found()).contains("MiB left");
        assertThat(refusal.mend()).contains("cache.disk.size");
    }

    @Test
    void aDeviceThatIsNotThereIsNotMadeAsAFile() throws Exception {
        assertThat(refusal("/dev/no-such-nvme", "200MiB").mend()).contains("by-id");
        assertThat(Path.of("/dev/no-such-nvme")).doesNotExist();
    }
}
