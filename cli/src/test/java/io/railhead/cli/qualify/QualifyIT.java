package io.railhead.cli.qualify;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.railhead.cli.BenchLine;
import io.railhead.cli.local.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The whole command over shared memory; over verbs the gate runs it on soft-RoCE. */
class QualifyIT {
    private static final String STORE = "railhead.store";

    @TempDir
    Path folder;

    /** As the launcher names it. */
    @BeforeAll
    static void nameTheStore() {
        System.setProperty(STORE,
                Path.of("target/s3proxy/s3proxy.jar").toAbsolutePath().toString());
    }

    @AfterAll
    static void forget() {
        System.clearProperty(STORE);
    }

    private static BenchLine.Outcome qualify(String... more) {
        List<String> line = new ArrayList<>(List.of("qualify", "--via", "loopback", "--bytes",
                "2MiB", "--seconds", "0.1", "--processes", "2"));
        line.addAll(List.of(more));
        return BenchLine.run(line.toArray(String[]::new));
    }

    private JsonNode report() throws IOException {
        return Json.read(Files.readString(folder.resolve("report.json")), JsonNode.class);
    }

    private static List<String> outcomes(JsonNode report) {
        List<String> outcomes = new ArrayList<>();
        report.required("trials")
                .forEach(trial -> outcomes.add(trial.required("name").asText() + " "
                        + trial.required("outcome").asText()));
        return outcomes;
    }

    @Test
    void whatCanBeTriedIsTriedAndTheRestIsNamed() throws IOException {
        BenchLine.Outcome outcome = qualify("--python", "/no/such/python", "--json",
                folder.resolve("report.json").toString());

        assertThat(outcome.status()).as(outcome.out() + outcome.err()).isZero();
        JsonNode report = report();
        assertThat(report.required("qualified").asBoolean()).isTrue();
        assertThat(outcomes(report)).contains("reads passed", "writes passed",
                "processes passed", "gpu not run", "dc not run");
        assertThat(outcome.out()).contains("there is no program /no/such/python");
    }

    @Test
    void aGpuWithWrongBytesIsAFailure() throws IOException {
        Path python = Files.writeString(folder.resolve("python"),
                "#!/bin/sh\necho 'railhead: s3://qualify/object-0: wrong bytes in registered memory' >&2\nexit 1\n");
        assertThat(python.toFile().setExecutable(true)).isTrue();

        BenchLine.Outcome outcome = qualify("--python", python.toString(), "--json",
                folder.resolve("report.json").toString());

        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcomes(report())).contains("gpu failed", "reads passed");
        assertThat(outcome.out()).contains("wrong bytes in registered memory")
                .contains("did not qualify");
    }
}
