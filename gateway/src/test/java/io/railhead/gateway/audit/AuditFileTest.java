package io.railhead.gateway.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.gateway.config.AuditConfig;
import io.railhead.gateway.config.AuditConfig.Sync;
import io.railhead.gateway.config.ByteCount;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class AuditFileTest {
    private static final AuditEvent EVENT = AuditEvent.accepted(AuditKind.RELOAD, "");

    @TempDir
    private Path folder;

    private AuditFile open(Sync sync, long roll, int keep) throws IOException {
        Path path = folder.resolve("audit.jsonl");
        return new AuditFile(new AuditConfig.Output(path, new ByteCount(roll), keep, sync), path)
                .open();
    }

    private String read(String name) throws IOException {
        return Files.readString(folder.resolve(name));
    }

    @ParameterizedTest
    @EnumSource(Sync.class)
    void linesAreAppendedAndOnlyOwnerAndGroupMayRead(Sync sync) throws IOException {
        for (int i = 0; i < 2; i++) {
            try (AuditFile file = open(sync, 1000, 1)) {
                file.write(EVENT, "{\"n\":" + i + "}");
                file.tick();
            }
        }
        assertThat(read("audit.jsonl")).isEqualTo("{\"n\":0}\n{\"n\":1}\n");
        assertThat(Files.getPosixFilePermissions(folder.resolve("audit.jsonl")))
                .isSubsetOf(PosixFilePermissions.fromString("rw-r-----"));
    }

    @Test
    void aFullFileIsSetAsideAndTheOldestGoes() throws IOException {
        try (AuditFile file = open(Sync.OFF, 10, 2)) {
            for (int i = 0; i < 5; i++) {
                file.write(EVENT, "12345678" + i);
            }
        }
        assertThat(read("audit.jsonl")).isEqualTo("123456784\n");
        assertThat(read("audit.jsonl.1")).isEqualTo("123456783\n");
        assertThat(read("audit.jsonl.2")).isEqualTo("123456782\n");
        assertThat(folder.resolve("audit.jsonl.3")).doesNotExist();
    }

    @Test
    void aFileThatWasMovedAwayIsOpenedAgain() throws IOException {
        try (AuditFile file = open(Sync.SECOND, 1000, 2)) {
            file.write(EVENT, "one");
            Files.move(folder.resolve("audit.jsonl"), folder.resolve("moved"));
            file.write(EVENT, "two");
            Files.delete(folder.resolve("audit.jsonl"));
            file.tick();
            assertThat(folder.resolve("audit.jsonl")).isEmptyFile();
            file.write(EVENT, "three");
        }
        assertThat(read("moved")).isEqualTo("one\n");
        assertThat(read("audit.jsonl")).isEqualTo("three\n");
    }

    @Test
    void aMissingFolderIsAFailureUntilItIsBack() throws IOException {
        try (AuditFile file = open(Sync.OFF, 1000, 2)) {
            Path away = folder.resolveSibling(folder.getFileName() + "-away");
            Files.move(folder, away);
            assertThatThrownBy(() -> file.write(EVENT, "one")).isInstanceOf(IOException.class);
            assertThatThrownBy(file::tick).isInstanceOf(IOException.class);
            Files.move(away, folder);
            file.write(EVENT, "one");
        }
        assertThat(read("audit.jsonl")).isEqualTo("one\n");
    }
}
