package io.railhead.helm;

import static org.assertj.core.api.Assertions.assertThat;

import com.marcnuri.helm.Helm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The chart as a release publishes it: what {@code deploy/dist/chart} packs. */
final class PackageTest {
    private static final Path SCRIPT = Path.of("../deploy/dist/chart").toAbsolutePath();

    @TempDir
    Path folder;

    @Test
    void thePackageHasTheSameBytesEachTime() throws Exception {
        assertThat(Files.readAllBytes(packed("one")))
                .isEqualTo(Files.readAllBytes(packed("another folder")));
    }

    @Test
    void helmRendersThePackageAsItRendersTheFolder() throws Exception {
        Path values = Chart.FOLDER.resolve("ci/laptop-values.yaml");
        assertThat(rendered(packed("chart"), values)).isEqualTo(rendered(Chart.FOLDER, values));
    }

    @Test
    void thePackageIsNamedAfterTheChartsVersion() throws Exception {
        String version = Chart.YAML.readTree(Chart.file("Chart.yaml")).get("version").asText();
        assertThat(packed("chart").getFileName()).hasToString("railhead-" + version + ".tgz");
    }

    private static String rendered(Path chart, Path values) {
        return new Helm(chart).template()
                .withName("rack1")
                .withKubeVersion("1.35.0")
                .withValuesFile(values)
                .call();
    }

    private Path packed(String name) throws IOException, InterruptedException {
        Path target = folder.resolve(name);
        Process script = new ProcessBuilder(SCRIPT.toString(), target.toString(),
                "2026-11-20T00:00:00Z")
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("log").toFile())
                .start();
        assertThat(script.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(script.exitValue()).as(Files.readString(folder.resolve("log"))).isZero();
        try (Stream<Path> files = Files.list(target)) {
            return files.findFirst().orElseThrow();
        }
    }
}
