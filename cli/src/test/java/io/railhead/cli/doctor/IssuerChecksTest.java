package io.railhead.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cli.doctor.Finding.Mark;
import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.identity.CredentialStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class IssuerChecksTest {
    private static final String KEY = """
            {"keys": [{"kty": "EC", "crv": "P-256", "kid": "1",
              "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
              "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}""";

    @TempDir
    private Path folder;

    private List<Finding> look(String keys) throws IOException, ConfigException {
        Files.writeString(folder.resolve("keys.json"), keys);
        Path config = Files.writeString(folder.resolve("railhead.yaml"), """
                gateway:
                  credentials: credentials.yaml
                  web_identity:
                    issuers:
                      - {issuer: "https://ci.test", audiences: [railhead], jwks_file: keys.json}
                backends: {s: {endpoints: ["http://127.0.0.1:1"]}}
                """);
        Files.writeString(folder.resolve("credentials.yaml"), "");
        return IssuerChecks.parts(
                new Site(Host.local(), ConfigLoader.load(config), CredentialStore.none(), Map.of()))
                .stream()
                .flatMap(part -> part.look().get().stream())
                .toList();
    }

    @Test
    void keysThatCanBeReadAreCounted() throws IOException, ConfigException {
        assertThat(look(KEY)).singleElement()
                .satisfies(finding -> assertThat(finding.mark()).isEqualTo(Mark.OK))
                .satisfies(finding -> assertThat(finding.found())
                        .isEqualTo("https://ci.test has 1 key(s)"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "{\"keys\": []}|https://ci.test has no public key",
            "{\"keys\": [{\"kty\": \"oct\", \"k\": \"AAAA\"}]}|https://ci.test has no public key",
            "no JSON|https://ci.test: no JWK set"})
    void keysThatVerifyNothingAreAFault(String keys, String found)
            throws IOException, ConfigException {
        assertThat(look(keys)).singleElement()
                .satisfies(finding -> assertThat(finding.mark()).isEqualTo(Mark.FAIL))
                .satisfies(finding -> assertThat(finding.found()).startsWith(found));
    }
}
