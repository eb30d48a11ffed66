package io.railhead.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cli.doctor.Finding.Mark;
import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.identity.CredentialStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ports that another program has. */
class PortsTest {
    @TempDir
    private Path folder;

    private Finding listen(int port) throws IOException, ConfigException {
        Path config = Files.writeString(folder.resolve("railhead.yaml"), """
                gateway: {listen: "127.0.0.1:%d", health: "127.0.0.1:0", credentials: keys.yaml}
                backends: {s: {endpoints: ["http://127.0.0.1:1"]}}
                """.formatted(port));
        Files.writeString(folder.resolve("keys.yaml"), "");
        return Ports.parts(new Site(Host.local(), ConfigLoader.load(config), CredentialStore.none(),
                Map.of()), Optional.empty())
                .stream()
                .flatMap(part -> part.look().get().stream())
                .filter(finding -> finding.subject().equals("gateway.listen"))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aPortThatIsTakenIsAFault() throws Exception {
        try (SmallStore other = new SmallStore()) {
            Finding finding = listen(other.port());
            assertThat(finding.mark()).isEqualTo(Mark.FAIL);
            assertThat(finding.found()).contains(":" + other.port() + " is taken")
                    .doesNotContain("TLS");
        }
    }

    /** The owner may be a gateway over TLS, which is not recognised in cleartext. */
    @Test
    void anOwnerThatSpeaksTlsIsSaidToDoSo() throws Exception {
        KeyPairs pairs = new KeyPairs(folder).create("other", "ip:127.0.0.1", "-1d", 10);
        try (SmallStore other = new SmallStore(pairs.sockets("other"), "https")) {
            Finding finding = listen(other.port());
            assertThat(finding.mark()).isEqualTo(Mark.FAIL);
            assertThat(finding.found()).contains(":" + other.port() + " is taken")
                    .endsWith(", which speaks TLS there");
        }
    }
}
