package io.railhead.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.profiles.ProfileFile;

class SettingsTest {

    @Test
    void theS3VariableWinsOverTheGeneralOneAndTheArgumentOverBoth() {
        var settings = new AwsSettings(
                Map.of("AWS_ENDPOINT_URL", "http://all", "AWS_ENDPOINT_URL_S3", "http://s3"));

        assertThat(settings.resolve(null, null, "r").endpoint()).isEqualTo(URI.create("http://s3"));
        assertThat(settings.resolve("http://arg", null, "r").endpoint())
                .isEqualTo(URI.create("http://arg"));
        assertThat(settings.resolve(null, null, "r").region()).isEqualTo("r");
    }

    @Test
    void aRegionIsAlwaysFound() {
        assertThat(new AwsSettings(Map.of()).resolve("http://arg", null, null).region())
                .isNotEmpty();
    }

    @Test
    void noEndpointAnywhereIsSaid() {
        assertThatThrownBy(() -> new AwsSettings(Map.of()).resolve(null, "no-such-profile", null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("--endpoint");
    }

    @ParameterizedTest
    @ValueSource(strings = {"gateway:9000", "ftp://x", "http:///path", ""})
    void anEndpointThatIsNoAddressIsRefused(String endpoint) {
        assertThatThrownBy(() -> new AwsSettings(Map.of()).resolve(endpoint, null, null))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void anEndpointWithoutASchemeIsToldWithTheVariableThatHasIt() {
        assertThatThrownBy(() -> new AwsSettings(Map.of("AWS_ENDPOINT_URL", "rack7:9000"))
                .resolve(null, null, "r")).isInstanceOf(IllegalArgumentException.class)
                .hasMessage("AWS_ENDPOINT_URL has no scheme: rack7:9000; write http://rack7:9000");
    }

    @Test
    void theServicesSectionAndTheBundleOfTheProfileCount() {
        String file = """
                [profile rack]
                services = near
                endpoint_url = http://all
                ca_bundle = /etc/rack.pem

                [services near]
                s3 =
                  endpoint_url = http://s3
                """;
        var settings = new AwsSettings(Map.of(), profiles(file));
        ClientConfig config = settings.resolve(null, "rack", "r");
        assertThat(config.endpoint()).isEqualTo(URI.create("http://s3"));
        assertThat(config.ca()).isEqualTo(Path.of("/etc/rack.pem"));
        var overruled = new AwsSettings(
                Map.of("AWS_CA_BUNDLE", "/etc/other.pem", "AWS_ENDPOINT_URL", "http://variable"),
                profiles(file));
        config = overruled.resolve(null, "rack", "r");
        assertThat(config.endpoint()).isEqualTo(URI.create("http://variable"));
        assertThat(config.ca()).isEqualTo(Path.of("/etc/other.pem"));
    }

    private static Supplier<ProfileFile> profiles(String content) {
        ProfileFile file = ProfileFile.builder()
                .type(ProfileFile.Type.CONFIGURATION)
                .content(new ByteArrayInputStream(content.getBytes(UTF_8)))
                .build();
        return () -> file;
    }

    @Test
    void aBundleThatCannotBeReadIsNamed(@TempDir Path folder) throws IOException {
        Path none = Files.writeString(folder.resolve("none.pem"), "no certificate");
        for (Path file : List.of(none, folder.resolve("missing.pem"))) {
            ClientConfig config = new AwsSettings(Map.of("AWS_CA_BUNDLE", file.toString()))
                    .resolve("https://rack7", null, "r");
            assertThatThrownBy(() -> RailheadClient.connect(config))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(file.toString());
        }
    }

    @Test
    void keysAreEncodedOnceAndKeepTheirSlashes() {
        assertThat(Call.to(SdkHttpMethod.GET, new ObjectName("b", "a//b/../c d+é*%2F~%")).path())
                .isEqualTo("/b/a//b/../c%20d%2B%C3%A9%2A%252F~%25");
    }

    @ParameterizedTest
    @ValueSource(strings = {"s3://", "s3://b", "s3://b/", "http://b/k", "s3:///k", "b/k"})
    void aNameThatIsNoObjectIsRefused(String uri) {
        assertThatThrownBy(() -> ObjectName.parse(uri))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
