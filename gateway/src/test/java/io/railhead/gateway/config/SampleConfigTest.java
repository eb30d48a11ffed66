package io.railhead.gateway.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.identity.CredentialStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What {@code deploy/} offers for copying can be used as it stands. */
class SampleConfigTest {
    private static final Path SAMPLES = Path.of("../deploy/sample");

    @TempDir
    private Path folder;

    static List<Path> samples() throws IOException {
        try (Stream<Path> files = Files.list(SAMPLES)) {
            return files.filter(
                    each -> each.toString().endsWith(".yaml") && !each.endsWith("credentials.yaml"))
                    .toList();
        }
    }

    @ParameterizedTest
    @MethodSource("samples")
    void isTakenByTheLoader(Path sample) throws Exception {
        for (String each : List.of("credentials.yaml", "policy.json")) {
            Files.copy(SAMPLES.resolve(each), folder.resolve(each));
        }
        // What an operator has to bring.
        for (String each : List.of("ca.pem", "tls.crt", "tls.key", "events-token")) {
            Files.writeString(folder.resolve(each), "a secret of sixteen characters and more");
        }
        GatewayConfig config = ConfigLoader
                .load(Files.copy(sample, folder.resolve("railhead.yaml")));
        assertThat(config.backends()).hasSize(1);
        try (CredentialStore credentials = CredentialStore.open(config.gateway())) {
            assertThat(credentials.principals()).isNotEmpty();
        }
    }

    @Test
    void thereIsOneForEachStoreThatTheReadmeNames() throws IOException {
        assertThat(samples().stream().map(each -> each.getFileName().toString()))
                .contains("aws-s3.yaml", "ceph-rgw.yaml", "minio.yaml", "storagegrid.yaml");
    }
}
