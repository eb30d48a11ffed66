package io.railhead.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.cli.local.Children;
import io.railhead.cli.local.Json;
import io.railhead.cli.local.ProcessCpu;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The demo's pieces; the demo as a whole is run by the build's own check. */
class DemoPartsTest {
    @TempDir
    Path folder;

    @Test
    void filesAreTakenUntilTheLimitAndTheLastIsCut() throws IOException {
        Path a = Files.write(folder.resolve("a"), new byte[100]);
        Path b = Files.write(folder.resolve("b"), new byte[100]);
        Path empty = Files.write(folder.resolve("empty"), new byte[0]);

        DemoFiles files = DemoFiles.choose(List.of(empty, a, b), 150, folder);

        assertThat(files.bytes()).isEqualTo(150);
        assertThat(files.files()).extracting(DemoFiles.DemoFile::key).containsExactly("0/a", "1/b");
        assertThat(files.files().getLast().file()).hasSize(50);
    }

    @Test
    void nothingToReadIsSaid() {
        assertThatThrownBy(() -> DemoFiles.choose(List.of(), 1, folder))
                .hasMessageContaining("no file");
    }

    @Test
    void theVerifierTakesTheRightBytesOnceAndWipesThem() throws IOException {
        byte[] content = content(Manifest.PART_BYTES + 10);
        Manifest.Entry entry = Manifest.entry("k", Files.write(folder.resolve("k"), content));
        Verifier verifier = new Verifier(entry, Manifest.PART_BYTES);
        ByteBuffer first = ByteBuffer.wrap(content, 0, Manifest.PART_BYTES).slice();

        verifier.accept(0, first);
        assertThat(first.clear()).isEqualTo(ByteBuffer.allocate(Manifest.PART_BYTES));
        assertThatThrownBy(verifier::requireComplete).isInstanceOf(IOException.class);
        verifier.accept(Manifest.PART_BYTES,
                ByteBuffer.wrap(content, Manifest.PART_BYTES, 10).slice());

        verifier.requireComplete();
        assertThat(verifier.parts()).isEqualTo(2);
    }

    @Test
    void oneWrongBitIsSeen() throws IOException {
        byte[] content = content(1000);
        Manifest.Entry entry = Manifest.entry("k", Files.write(folder.resolve("k"), content));
        content[999] ^= 1;

        assertThatThrownBy(
                () -> new Verifier(entry, Manifest.PART_BYTES).accept(0, ByteBuffer.wrap(content)))
                .hasMessageContaining("wrong bytes in k");
    }

    @Test
    void theJsonHasTheNamesThatReadersExpect() {
        Row row = Row.of(Row.Path.RDMA_HIT_STRONG,
                new Measured(1L << 30, 9, 2, 0.5, 10, 20, ""), 1.5, 7);

        assertThat(Json.line(new Report(true, List.of(row)))).isEqualTo(
                "{\"verified\":true,\"rows\":[{\"path\":\"rdma-hit-strong\",\"fabric\":\"loopback\","
                        + "\"freshness\":\"strong\",\"bytes\":1073741824,\"mib_per_s\":512.0,"
                        + "\"p50_us\":10.0,\"p99_us\":20.0,\"gateway_cpu_s_per_gib\":1.5,"
                        + "\"client_cpu_s_per_gib\":0.5,\"backend_requests\":7}]}");
    }

    @Test
    void theTableCallsLoopbackWhatItIs() {
        StringWriter out = new StringWriter();
        Table.print(new PrintWriter(out), List.of(Row.of(Row.Path.RDMA_HIT,
                new Measured(1 << 20, 1, 1, 0, 1, 1, ""), 0, 0)));

        assertThat(out.toString()).contains("shared memory, not a network", "█", "NIC");
    }

    @Test
    void closingEndsTheProcessesAndDeletesTheFolder() throws IOException {
        Path scratch = Files.createDirectory(folder.resolve("scratch"));
        Children children = new Children(scratch);
        Process process = children.java("forever", List.of("--version"), Map.of(),
                ProcessBuilder.Redirect.appendTo(children.log("forever").toFile()));

        children.close();
        children.close();

        assertThat(process.isAlive()).isFalse();
        assertThat(scratch).doesNotExist();
    }

    @Test
    void processorTimeGrowsWithWork() throws IOException {
        ProcessCpu cpu = ProcessCpu.ofThis();
        double before = cpu.seconds();
        long deadline = System.nanoTime() + 30_000_000_000L;
        Random random = new Random(1);
        while (cpu.seconds() == before && System.nanoTime() < deadline) {
            random.nextBytes(new byte[100_000]);
        }
        assertThat(cpu.seconds()).isGreaterThan(before);
    }

    private static byte[] content(int bytes) {
        byte[] content = new byte[bytes];
        new Random(bytes).nextBytes(content);
        return content;
    }
}
