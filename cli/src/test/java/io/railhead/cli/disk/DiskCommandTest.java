package io.railhead.cli.disk;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.railhead.os.DirectFile;
import io.railhead.os.RequiresDirectFiles;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.RandomAccessFile;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** An operator's commands on files; this process has no terminal, so nothing is asked. */
@RequiresDirectFiles
final class DiskCommandTest {
    private static final long BYTES = 200L << 20;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    private Path folder;

    private int run(String... arguments) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        CommandLine line = new CommandLine(new DiskCommand());
        line.setOut(new PrintWriter(out, true));
        line.setErr(new PrintWriter(err, true));
        line.setExecutionExceptionHandler((failure, command, _) -> {
            command.getErr().println(failure.getMessage());
            return 1;
        });
        return line.execute(arguments);
    }

    private String disk() {
        return folder.resolve("disk").toString();
    }

    private void put(long at, String text) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(disk(), "rw")) {
            file.seek(at);
            file.write(text.getBytes(StandardCharsets.ISO_8859_1));
        }
    }

    private JsonNode shown() throws IOException {
        assertThat(run("show", disk(), "--json")).as(err.toString()).isZero();
        return new ObjectMapper().readTree(out.toString());
    }

    @Test
    void aShortFileThatHoldsSomethingKeepsItsBytesWithoutConsent() throws IOException {
        Path file = Files.writeString(folder.resolve("disk"), "important\n");
        assertThat(run("format", disk(), "--size", "200MiB")).isEqualTo(1);
        assertThat(err.toString()).contains("add --yes");
        assertThat(file).hasContent("important\n");
        assertThat(run("format", disk(), "--size", "200MiB", "--yes")).as(err.toString()).isZero();
        assertThat(Files.size(file)).isEqualTo(BYTES);
        assertThat(shown().at("/volume/format").asInt()).isEqualTo(2);
    }

    @Test
    void noFileIsMadeForAVolumeThatIsTooSmall() {
        assertThat(run("format", disk(), "--size", "4KiB")).isEqualTo(1);
        assertThat(folder.resolve("disk")).doesNotExist();
    }

    @Test
    void aNewFileBecomesAVolumeThatCanBeShown() throws IOException {
        assertThat(run("format", disk(), "--size", "200MiB")).as(err.toString()).isZero();
        assertThat(out.toString()).contains("pages of a gateway", "format    2", "200 MiB",
                "256 KiB (cache.page)");
        JsonNode volume = shown().path("volume");
        assertThat(volume.path("bytes").asLong()).isEqualTo(BYTES);
        assertThat(volume.path("sequence").asLong()).isEqualTo(1);
        assertThat(Files.size(folder.resolve("disk"))).isEqualTo(BYTES);
    }

    @Test
    void contentIsDroppedOnlyWhereItIsSaidSo() throws IOException {
        assertThat(run("format", disk(), "--size", "200MiB")).isZero();
        String before = shown().at("/volume/identifier").asText();
        assertThat(run("format", disk())).isEqualTo(1);
        assertThat(err.toString()).contains("volume " + before, "--yes");
        assertThat(shown().at("/volume/identifier").asText()).isEqualTo(before);
        assertThat(run("format", disk(), "--yes")).isZero();
        assertThat(shown().at("/volume/identifier").asText()).isNotEqualTo(before).hasSize(32);
    }

    @ParameterizedTest
    @CsvSource({"0, XFSB, XFS", "512, EFI PART, GPT", "512, LABELONE, LVM",
            "1080, Sï, ext4", "4086, SWAPSPACE2, swap", "65600, _BHRfS_M, btrfs",
            "510, Uª, MBR", "0, LUKSº¾, LUKS", "77, x, unknown"})
    void foreignContentIsNamedAndGoneAfterAFormat(long at, String signature, String name)
            throws IOException {
        assertThat(run("format", disk(), "--size", "200MiB")).isZero();
        put(0, "\0".repeat(1 << 20));
        put(BYTES - (1 << 20), "\0".repeat(1 << 20));
        put(at, signature);
        assertThat(run("show", disk())).isZero();
        assertThat(out.toString()).contains(name);
        assertThat(run("format", disk())).isEqualTo(1);
        assertThat(err.toString()).contains(name, "--yes");
        assertThat(run("format", disk(), "--yes")).isZero();
        assertThat(shown().path("foreign").asText()).isEmpty();
        assertThat(shown().at("/volume/segments").asInt()).isEqualTo(3);
    }

    @Test
    void theLargerPartOfAFileIsLeftAlone() throws IOException {
        assertThat(run("format", disk(), "--size", "200MiB")).isZero();
        put(BYTES, "after it");
        assertThat(run("format", disk(), "--size", "160MiB", "--yes")).isZero();
        assertThat(shown().at("/volume/bytes").asLong()).isEqualTo(160L << 20);
        assertThat(Files.size(folder.resolve("disk"))).isEqualTo(BYTES + 8);
    }

    @Test
    void aDiskOfARunningGatewayIsRefusedAndStillShown() throws IOException {
        assertThat(run("format", disk(), "--size", "200MiB")).isZero();
        try (DirectFile _ = DirectFile.open(disk(), 0)) {
            assertThat(run("format", disk(), "--yes")).isEqualTo(1);
            assertThat(err.toString()).contains("another process uses it");
            assertThat(shown().at("/volume/format").asInt()).isEqualTo(2);
        }
    }

    @Test
    void anotherFormatIsNamed() throws IOException {
        assertThat(run("format", disk(), "--size", "200MiB")).isZero();
        put(8, "c");
        assertThat(shown().path("foreign").asText()).contains("format 99");
    }

    @Test
    void misuseIsToldBeforeAnythingIsMade() {
        assertThat(run("format", disk())).isEqualTo(2);
        assertThat(err.toString()).contains("--size makes a file");
        assertThat(run("format", folder.toString(), "--size", "1GiB")).isEqualTo(2);
        assertThat(run("format", disk(), "--size", "200MB1")).isEqualTo(2);
        assertThat(run("format", disk(), "--size", "200MiB", "--page", "3KiB")).isEqualTo(2);
        assertThat(run("show", disk())).isEqualTo(1);
        assertThat(run("format", "/dev/no-such-device", "--size", "1GiB")).isEqualTo(1);
        assertThat(err.toString()).contains("no such device");
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void aFileThatIsTooSmallIsRefused() throws IOException {
        Files.writeString(folder.resolve("disk"), "small");
        assertThat(run("format", disk())).isEqualTo(1);
        assertThat(err.toString()).contains("a volume needs");
        assertThat(shown().path("foreign").asText()).contains("too few bytes");
    }
}
