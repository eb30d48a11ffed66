package io.railhead.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

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
        Files.writeString(folder.resolve("credentials.yaml"), "");
        Path config = Files.writeString(folder.resolve("railhead.yaml"), """
                gateway: {credentials: credentials.yaml}
                cache: {memory: 64MiB, disk: {paths: ["%s"], size: %s}}
                backends: {a: {endpoints: ["http://s3"]}}
                """.formatted(paths, size));
        Site site = new Site(Host.local(), ConfigLoader.load(config), CredentialStore.none(),
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
            assertThat(look(disk(), "200MiB", true))
                    .noneMatch(finding -> finding.mark() != Mark.OK);
        }
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
