package io.railhead.helm;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.railhead.gateway.config.ConfigLoader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What users of a release before have, kept in {@code deploy/upgrade}, and today's version. */
final class UpgradeTest {
    private static final Path KEPT = Path.of("../deploy/upgrade").toAbsolutePath().normalize();
    private static final List<String> NO_CONFIGURATION = List.of("credentials.yaml");

    @TempDir
    Path folder;

    static Stream<Path> samples() {
        return kept("sample").filter(file -> file.toString().endsWith(".yaml"))
                .filter(file -> !NO_CONFIGURATION.contains(file.getFileName().toString()));
    }

    static Stream<Path> values() {
        return kept("values");
    }

    @ParameterizedTest
    @MethodSource("samples")
    void aConfigurationOfAReleaseBeforeIsRead(Path sample) throws Exception {
        try (Stream<Path> beside = Files.list(sample.getParent())) {
            for (Path file : beside.toList()) {
                Files.copy(file, folder.resolve(file.getFileName()));
            }
        }
        // What is a site's own.
        for (String name : List.of("tls.crt", "tls.key", "ca.pem",
                "events-token")) {
            Files.writeString(folder.resolve(name), "");
        }
        assertThat(ConfigLoader.load(folder.resolve(sample.getFileName()))).isNotNull();
    }

    @ParameterizedTest
    @MethodSource("values")
    void valuesOfAReleaseBeforeGiveAConfigurationThatIsRead(Path values) throws Exception {
        JsonNode data = new Chart(values).document("ConfigMap").path("data");
        assertThat(ConfigLoader.load(ChartTest.mounted(folder, data))).isNotNull();
    }

    private static Stream<Path> kept(String kind) {
        try (Stream<Path> versions = Files.list(KEPT)) {
            return versions.map(version -> version.resolve(kind))
                    .filter(Files::isDirectory)
                    .sorted()
                    .toList()
                    .stream()
                    .flatMap(UpgradeTest::files);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Stream<Path> files(Path folder) {
        try (Stream<Path> files = Files.list(folder)) {
            return files.sorted().toList().stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
