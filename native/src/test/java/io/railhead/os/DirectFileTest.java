package io.railhead.os;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@RequiresDirectFiles
final class DirectFileTest {
    private static final long BYTES = 1 << 20;

    @TempDir
    Path folder;

    @Test
    void blocksAreReadAsTheyWereWritten() {
        try (DirectFile file = open(); Mapping memory = Mapping.anonymous(1 << 16)) {
            MemorySegment written = memory.segment().asSlice(0, 8192);
            written.fill((byte) 7);
            file.write(written, 4096);
            file.sync();
            MemorySegment read = memory.segment().asSlice(16384, 16384);
            file.read(read, 0);
            assertThat(read.get(JAVA_BYTE, 4095)).isZero();
            assertThat(read.get(JAVA_BYTE, 4096)).isEqualTo((byte) 7);
            assertThat(read.get(JAVA_BYTE, 4096 + 8192)).isZero();
        }
    }

    @Test
    void itsSpaceIsTakenFromTheFileSystemAtOnce() throws IOException {
        try (DirectFile file = open()) {
            assertThat(file.bytes()).isEqualTo(BYTES);
            assertThat(Files.size(path())).isEqualTo(BYTES);
            assertThat(allocatedBytes()).isGreaterThanOrEqualTo(BYTES);
        }
    }

    /** A sparse file has fewer: the JDK shows a file's length alone. */
    private long allocatedBytes() throws IOException {
        Process stat = new ProcessBuilder("stat", "-c", "%b", path().toString()).start();
        return 512L * Long.parseLong(
                new String(stat.getInputStream().readAllBytes(), StandardCharsets.US_ASCII)
                        .strip());
    }

    @Test
    void aSecondOpenerIsRefused() {
        try (DirectFile file = open()) {
            assertThat(file.bytes()).isEqualTo(BYTES);
            assertThatThrownBy(this::open).isInstanceOfSatisfying(OsException.class,
                    e -> assertThat(DirectFile.isLocked(e)).isTrue());
        }
        open().close();
    }

    @Test
    void theEndOfATruncatedFileIsAnError() throws IOException {
        try (DirectFile file = open(); Mapping memory = Mapping.anonymous(8192)) {
            try (RandomAccessFile truncated = new RandomAccessFile(path().toFile(), "rw")) {
                truncated.setLength(4096);
            }
            assertThatThrownBy(() -> file.read(memory.segment(), 0))
                    .isInstanceOf(OsException.class)
                    .hasMessageContaining("ended early");
        }
    }

    @Test
    void aClosedFileRefusesCalls() {
        DirectFile file = open();
        file.close();
        file.close();
        try (Mapping memory = Mapping.anonymous(4096)) {
            assertThatThrownBy(() -> file.read(memory.segment(), 0))
                    .isInstanceOf(OsException.class)
                    .hasMessage("the file is closed");
        }
        assertThatThrownBy(file::sync).isInstanceOf(OsException.class);
    }

    private Path path() {
        return folder.resolve("disk");
    }

    private DirectFile open() {
        return DirectFile.open(path().toString(), BYTES);
    }
}
