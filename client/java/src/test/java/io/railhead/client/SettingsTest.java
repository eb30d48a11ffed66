package io.railhead.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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
    void keysAreEncodedOnceAndKeepTheirSlashes() {
        assertThat(PercentEncoding.ofKey("a//b/../c d+é~%"))
                .isEqualTo("a//b/../c%20d%2B%C3%A9~%25");
    }

    @ParameterizedTest
    @ValueSource(strings = {"s3://", "s3://b", "s3://b/", "http://b/k", "s3:///k", "b/k"})
    void aNameThatIsNoObjectIsRefused(String uri) {
        assertThatThrownBy(() -> ObjectName.parse(uri))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
