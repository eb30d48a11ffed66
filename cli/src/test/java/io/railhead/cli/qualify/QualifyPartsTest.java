package io.railhead.cli.qualify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.cli.qualify.Attempt.NotRunException;
import io.railhead.cli.qualify.Attempt.Seen;
import io.railhead.cli.qualify.Trial.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Qualify's pieces; {@link QualifyIT} runs the whole. */
class QualifyPartsTest {
    private static final Hardware NONE = new Hardware("6.1", "x", 2, 1, List.of(), List.of());

    @TempDir
    Path root;

    private static Trial trial(String name, Outcome outcome) {
        return new Trial(name, outcome, "", "", Map.of());
    }

    private static boolean isQualified(Trial... trials) {
        return QualifyReport.of(List.of(), "verbs", NONE, List.of(trials), List.of()).qualified();
    }

    @Test
    void aMachineQualifiesWhereBytesMovedAndNothingFailed() {
        Trial moved = trial(Qualification.READS, Outcome.PASSED);
        assertThat(isQualified(moved, trial("gpu", Outcome.NOT_RUN))).isTrue();
        assertThat(isQualified(moved, trial("gpu", Outcome.FAILED))).isFalse();
        assertThat(isQualified(trial("machine", Outcome.PASSED))).isFalse();
        assertThat(isQualified(trial(Qualification.READS, Outcome.NOT_RUN))).isFalse();
    }

    @Test
    void whatIsMissingIsNoFailureAndAnExceptionIs() {
        assertThat(new Attempt("a", "", () -> new Seen("seen", Map.of())).run().outcome())
                .isEqualTo(Outcome.PASSED);
        Trial missing = new Attempt("a", "", () -> {
            throw new NotRunException("no GPU");
        }).run();
        assertThat(missing.outcome()).isEqualTo(Outcome.NOT_RUN);
        assertThat(missing.found()).isEqualTo("no GPU");
        Trial failed = new Attempt("a", "", () -> {
            throw new IOException("wrong bytes");
        }).run();
        assertThat(failed.outcome()).isEqualTo(Outcome.FAILED);
        assertThat(failed.found()).isEqualTo("wrong bytes");
        assertThat(new Attempt("a", "", () -> {
            throw new IllegalStateException("a fault of ours");
        }).run().outcome()).isEqualTo(Outcome.FAILED);
    }

    @ParameterizedTest
    @ValueSource(strings = {"10.99.0.1", "fe80::a236:9fff:fe12:3456%eth0", "::1",
            "fe80:0000:0000:0000:a236:9fff:fe12:3456", "a0:36:9f:12:34:56",
            "0000:0000:0000:0000:0000:ffff:0a63:0001", "::ffff:10.99.0.1"})
    void addressesAreTakenOut(String address) {
        Redaction redaction = new Redaction(List.of());
        assertThat(redaction.of("to " + address + ", port 1")).isEqualTo("to <address>, port 1");
    }

    @Test
    void namesAreTakenOutAndWordsThatContainThemStay() {
        Redaction redaction = new Redaction(List.of("node7", "/home/ann", "ab"));
        assertThat(redaction.of("node7: /home/ann/x, node77, ab, mlx5_0 22.35.1012 at 10:15"))
                .isEqualTo("<name>: <name>/x, node77, ab, mlx5_0 22.35.1012 at 10:15");
    }

    @Test
    void hardwareIsNamedByModelAndVersion() throws IOException {
        write("proc/sys/kernel/osrelease", "6.1.0-13-amd64\n");
        write("proc/cpuinfo", "processor : 0\nmodel name\t: A Processor\n");
        write("proc/meminfo", "MemTotal:       24683520 kB\n");
        write("proc/driver/nvidia/gpus/0000:17:00.0/information",
                "Model: \t\t NVIDIA H200\nGPU UUID: \t GPU-secret\n");
        write("sys/class/infiniband/mlx5_0/node_type", "1: CA\n");
        write("sys/class/infiniband/mlx5_0/fw_ver", "22.35.1012\n");
        write("sys/class/infiniband/mlx5_0/board_id", "MT_0000000359\n");
        write("sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
        write("sys/class/infiniband/mlx5_0/ports/1/link_layer", "Ethernet\n");
        write("sys/class/infiniband/mlx5_0/ports/1/rate", "200 Gb/sec (4X HDR)\n");
        Files.createDirectories(root.resolve("drivers/mlx5_core"));
        Files.createDirectories(root.resolve("sys/class/infiniband/mlx5_0/device"));
        Files.createSymbolicLink(root.resolve("sys/class/infiniband/mlx5_0/device/driver"),
                root.resolve("drivers/mlx5_core"));

        Hardware hardware = Hardware.read(root);

        assertThat(hardware.kernel()).isEqualTo("6.1.0-13-amd64");
        assertThat(hardware.processor()).isEqualTo("A Processor");
        assertThat(hardware.memoryMib()).isEqualTo(24105);
        assertThat(hardware.gpus()).containsExactly("NVIDIA H200");
        assertThat(hardware.adapters()).containsExactly(new Hardware.Adapter("mlx5_0",
                "mlx5_core", "22.35.1012", "MT_0000000359",
                List.of(new Hardware.Port(1, "ACTIVE", "Ethernet", "200 Gb/sec (4X HDR)"))));
    }

    private void write(String file, String text) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }

    @Test
    void theAverageIsOfPerftestsLastRow() throws IOException {
        assertThat(Perftest.average(List.of(" #bytes     #iterations    BW peak[MiB/sec]",
                " 1048576    200              104.66             98.51   \t\t   0.000099",
                "---------"))).isEqualTo(98.51);
        assertThatThrownBy(() -> Perftest.average(List.of("Couldn't listen")))
                .hasMessage("ib_write_bw printed no table");
    }
}
