package io.railhead.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.railhead.cli.BenchLine;
import io.railhead.cli.local.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The bench of misses from end to end, as short as can be. */
class MissesIT {
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
    void eachWayToReadAndToWriteIsMeasured() throws IOException {
        BenchLine.Outcome outcome = BenchLine.run("bench", "misses", "--no-pin", "--rounds", "1",
                "--warm", "0", "--bytes", "4MiB", "--rate", "8", "--latency", "1", "--readers", "4",
                "--only",
                "sequential-256k,put,parts,readers", "--out", folder.toString());

        assertThat(outcome.status()).as(outcome.err()).isZero();
        assertThat(outcome.err()).contains("warming up").doesNotContain("FAILED");
        assertThat(outcome.out()).contains("TOO SHORT");
        JsonNode report = Json.read(Files.readString(folder.resolve("misses.json")),
                JsonNode.class);
        assertThat(report.required("rows")).hasSize(2 + 3 + 3 + 2);
        for (JsonNode miss : report.required("rows")) {
            JsonNode round = miss.required("row").required("rounds").required(0);
            assertThat(round.required("bytes").asLong()).isPositive();
            assertThat(round.required("requests").asLong()).isPositive();
        }
        for (JsonNode goal : report.required("goals")) {
            assertThat(goal.required("measured").required("median").asDouble()).isPositive();
            if (goal.required("what").asText().contains("bytes from the store")) {
                // Each byte once, however many read.
                assertThat(goal.required("measured").required("median").asDouble())
                        .isBetween(1.0, 1.05);
            }
        }
        assertThat(folder.resolve("misses.md")).content().contains("UploadPart");
    }

    @Test
    void whatCannotBeMeasuredIsMisuse() {
        assertThat(BenchLine.run("bench", "misses", "--only", "hits").err())
                .contains("hits is none of cold-get");
        assertThat(BenchLine.run("bench", "misses", "--bytes", "5").err())
                .contains("multiple of 1MiB");
        assertThat(BenchLine.run("bench", "misses", "--rounds", "0").status()).isEqualTo(2);
    }
}
