package io.railhead.gateway.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestGateway;
import io.railhead.os.RequiresDirectFiles;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The disk tier on the status page: one disk that works, one that holds something else. */
@RequiresDirectFiles
class StatusDiskIT {
    @TempDir
    Path folder;

    private final FakeStore store = new FakeStore();
    private final TestGateway gateway = TestGateway.over(store);

    @BeforeEach
    void start() throws IOException {
        Files.writeString(folder.resolve("other"), "XFSB");
        Files.write(folder.resolve("other"), new byte[140 << 20],
                StandardOpenOption.APPEND);
        gateway.config("""
                cache: {memory: 64MiB, disk: {paths: ["%s", "%s"], size: 140MiB}}
                """.formatted(folder.resolve("disk"), folder.resolve("other"))).start();
        TestGateway.await(() -> gateway.metric("railhead_disk_volumes{state=\"refused\",}") == 1
                && gateway.metric("railhead_disk_volumes{state=\"recovering\",}") == 0);
    }

    @AfterEach
    void close() {
        gateway.close();
    }

    @Test
    void eachDiskIsThereWithItsState() {
        JsonObject disk;
        try (HttpClient http = HttpClient.newHttpClient()) {
            disk = new JsonObject(http.sendAsync(
                    HttpRequest.newBuilder(gateway.admin().resolve("/status.json")).build(),
                    HttpResponse.BodyHandlers.ofString()).join().body()).getJsonObject("disk");
        }
        JsonArray volumes = disk.getJsonArray("volumes");
        assertThat(volumes.getJsonObject(0).getString("state")).isEqualTo("working");
        assertThat(volumes.getJsonObject(0).getLong("bytes")).isEqualTo(140L << 20);
        assertThat(volumes.getJsonObject(1).getString("state")).isEqualTo("refused");
        assertThat(volumes.getJsonObject(1).getString("reason")).contains("XFS",
                "railhead disk format");
        assertThat(disk.getLong("budget_bytes")).isEqualTo(280L << 20);
        assertThat(gateway.metric("railhead_disk_write_budget_bytes")).isEqualTo(280 << 20);
    }

    @Test
    void thePageHasATileOfIt() {
        Optional<Path> program = Chromium.program();
        assumeTrue(program.isPresent(),
                "no Chromium on the path, and CHROMIUM names none: the page is not looked at");
        try (Chromium browser = new Chromium(program.orElseThrow())) {
            browser.screen(1280, 1700, "light");
            browser.open(gateway.admin());
            Chromium.await(() -> browser.text("#disk").contains("held"));
            assertThat(browser.text("#disk")).contains("of 140 MiB held", "Served without",
                    folder.resolve("other").toString(), "280 MiB once full");
            assertThat(browser.text("#volumes > div:nth-child(1)")).contains("working",
                    folder.resolve("disk").toString());
            assertThat(browser.text("#volumes > div:nth-child(2)")).contains("refused", "XFS");
            assertThat(browser.complaints()).isEmpty();
        }
    }
}
