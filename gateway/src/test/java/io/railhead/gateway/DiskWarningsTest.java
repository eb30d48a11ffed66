package io.railhead.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.disk.DiskFormat;
import io.railhead.os.DirectFile;
import io.railhead.os.RequiresDirectFiles;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The unit's ExecStartPre is the check: a disk must not keep the gateway from its start. */
@RequiresDirectFiles
final class DiskWarningsTest {
    private static final long BYTES = 256L << 20;

    @TempDir
    private Path folder;

    private Path config() throws Exception {
        Files.writeString(folder.resolve("credentials.yaml"), """
                principals:
                  - {name: alice, keys: [{access_key: AK, secret_key: 0123456789abcdef}]}
                """);
        return Files.writeString(folder.resolve("railhead.yaml"), """
                gateway: {credentials: credentials.yaml}
                cache: {memory: 64MiB, disk: {paths: ["%s"], size: 256MiB}}
                backends: {a: {endpoints: ["http://s3"]}}
                """.formatted(disk()));
    }

    private Path disk() {
        return folder.resolve("disk");
    }

    @Test
    void aDiskThatWouldBeRefusedIsAWarning() throws Exception {
        DirectFile.open(disk().toString(), BYTES).close();
        ConfigCheck blank = Serve.examine(config());
        assertThat(blank.error()).isEmpty();
        assertThat(blank.warnings()).noneMatch(each -> each.startsWith("cache.disk"));
        try (RandomAccessFile file = new RandomAccessFile(disk().toFile(), "rw")) {
            file.write(1);
        }
        assertWarning("holds data of an unknown kind");
        try (DirectFile _ = DirectFile.open(disk().toString(), BYTES)) {
            assertWarning("another process uses it");
        }
    }

    /** The first start with another size makes the disk anew, and would say so in the log only. */
    @Test
    void aChangeThatDropsThePagesIsAWarning() throws Exception {
        // 512 MiB are enough for a volume of 256 MiB.
        try (DiskFormat disk = DiskFormat.open(disk().toString(), 512L << 20)) {
            assertThat(disk.format(256 << 10).volume()).isNotNull();
        }
        ConfigCheck check = Serve.examine(config());
        assertThat(check.error()).isEmpty();
        assertThat(check.warnings()).filteredOn(each -> each.startsWith("cache.disk"))
                .singleElement()
                .asString()
                .contains(disk().toString(), "drops its pages", "size of the disk");
    }

    private void assertWarning(String reason) throws Exception {
        ConfigCheck check = Serve.examine(config());
        assertThat(check.error()).isEmpty();
        assertThat(check.warnings()).filteredOn(each -> each.startsWith("cache.disk"))
                .singleElement()
                .asString()
                .contains(disk().toString(), reason, "serves without this disk");
    }
}
