package io.railhead.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cli.doctor.Finding.Mark;
import io.railhead.rdma.dc.DcSelfTest;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What {@code railhead doctor --dc-selftest} says; DcSelfTestTest moves the bytes. */
class DcTrialTest {

    @TempDir
    private Path root;
    private final List<String> tried = new ArrayList<>();
    private MachineFolder machine;

    @BeforeEach
    void machine() throws IOException {
        machine = new MachineFolder(root);
    }

    private Finding run(@Nullable String device, String... broken) {
        List<Finding> findings = new DcTrial(Host.below(root), (port, rdma) -> {
            tried.add(port.device());
            if (List.of(broken).contains(port.device())) {
                throw new IOException(port.device() + " is no mlx5 device");
            }
            return new DcSelfTest.Outcome(4096, 1 << 20, Duration.ofNanos(41_000),
                    Duration.ofNanos(52_000));
        }).run(null, device);
        assertThat(findings).hasSize(1);
        return findings.getFirst();
    }

    @Test
    void theFirstPortThatWorksIsNamed() throws IOException {
        machine.roce("4200");
        machine.device("bnxt_re0", "1: CA", "bnxt_en");
        machine.port("bnxt_re0", "4: ACTIVE", "Ethernet");
        machine.gid("bnxt_re0", 0, MachineFolder.MAPPED, "RoCE v2", "eth0");
        Finding found = run(null, "bnxt_re0");
        assertThat(tried).containsExactly("bnxt_re0", "mlx5_0");
        assertThat(found.mark()).isEqualTo(Mark.OK);
        assertThat(found.found()).isEqualTo("1 MiB written to a target of mlx5_0 port 1 in 41 µs"
                + " and read from it in 52 µs, compared; MTU 4096, traffic class 96, the well-known"
                + " DC key");
    }

    @Test
    void whatWentWrongIsSaidForEachPort() throws IOException {
        machine.roce("4200");
        Finding found = run("mlx5_0", "mlx5_0");
        assertThat(found.mark()).isEqualTo(Mark.FAIL);
        assertThat(found.found()).isEqualTo("mlx5_0 port 1: mlx5_0 is no mlx5 device");
    }

    @Test
    void aDeviceThatIsNotThereIsSaid() throws IOException {
        machine.roce("4200");
        assertThat(run("mlx5_7").found()).isEqualTo("there is no device mlx5_7 among mlx5_0");
        assertThat(tried).isEmpty();
    }

    private int command(StringWriter out, StringWriter err, String... options) {
        List<String> words = new ArrayList<>(List.of("--root", root.toString()));
        words.addAll(List.of(options));
        return new CommandLine(new DoctorCommand()).setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .execute(words.toArray(String[]::new));
    }

    @Test
    void withoutAnAdapterOneLineSaysSoAndTheStatusIsOne() {
        StringWriter out = new StringWriter();
        assertThat(command(out, new StringWriter(), "--dc-selftest")).isEqualTo(1);
        assertThat(out.toString().lines().filter(line -> line.startsWith("fail")))
                .containsExactly("fail  dc  the kernel lists no RDMA device");
    }

    @Test
    void anAdapterIsNamedForTheSelfTestAlone() {
        StringWriter err = new StringWriter();
        assertThat(command(new StringWriter(), err, "--device", "mlx5_0")).isEqualTo(2);
        assertThat(err.toString()).contains("--device belongs to --dc-selftest");
    }
}
