package io.railhead.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.railhead.cli.BenchLine;
import io.railhead.cli.local.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The whole bench, as short as can be: every way to be asked, and nginx where it is installed. */
class PeersIT {
    private static final String HOME = "railhead.home";

    @TempDir
    Path folder;

    /** As the launcher does. */
    @BeforeEach
    void nameTheCheckout() {
        System.setProperty(HOME, Path.of("..").toAbsolutePath().normalize().toString());
    }

    @AfterEach
    void forgetIt() {
        System.clearProperty(HOME);
    }

    @Test
    void everyContenderIsMeasured() throws IOException {
        List<String> contenders = new ArrayList<>(List.of("railhead-signed", "railhead-unsigned",
                "railhead-strong", "railhead-token", "railhead-native", "copy"));
        if (RivalCache.NGINX.version() != null) {
            contenders.add("nginx");
        }

        BenchLine.Outcome outcome = BenchLine.run("bench", "peers", "--sizes", "64KiB",
                "--connections", "2", "--rounds", "1", "--seconds", "0.2", "--warm", "0.05",
                "--only", String.join(",", contenders), "--out", folder.toString());

        assertThat(outcome.err()).contains("warming up").doesNotContain("FAILED");
        assertThat(outcome.status()).as(outcome.err()).isZero();
        assertThat(outcome.out()).contains("TOO SHORT");
        JsonNode report = Json.read(Files.readString(folder.resolve("peers.json")),
                JsonNode.class);
        assertThat(report.required("rows")).hasSize(contenders.size());
        for (JsonNode row : report.required("rows")) {
            JsonNode round = row.required("rounds").required(0);
            assertThat(round.required("bytes").asLong()).isPositive();
            assertThat(round.required("requests").asLong()).isPositive();
            assertThat(round.required("p50_us").asDouble()).isPositive();
        }
        assertThat(folder.resolve("peers.md")).content().contains("64 KiB");
        assertThat(folder.resolve("peers-cpu.svg")).content().contains("<svg");
    }

    @Test
    void whatCannotBeMeasuredIsMisuse() {
        assertThat(BenchLine.run("bench").status()).isEqualTo(2);
        assertThat(BenchLine.run("bench", "peers", "--only", "squid").err())
                .contains("squid is none of railhead-signed");
        assertThat(BenchLine.run("bench", "peers", "--sizes", "5B").err())
                .contains("multiple of 8");
        assertThat(BenchLine.run("bench", "peers", "--only", "copy", "--sizes", "4KiB").err())
                .contains("nobody of these");
        assertThat(BenchLine.run("bench", "peers", "--rounds", "0").status()).isEqualTo(2);
    }
}
