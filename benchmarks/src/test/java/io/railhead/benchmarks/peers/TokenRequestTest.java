package io.railhead.benchmarks.peers;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4FamilyHttpSigner;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;
import software.amazon.awssdk.http.auth.spi.signer.HttpSigner;
import software.amazon.awssdk.identity.spi.AwsCredentialsIdentity;

/** Signatures of the client that reads and writes by tokens. */
class TokenRequestTest {
    private static final Instant NOW = Instant.parse("2026-11-22T07:00:00Z");

    private final SigV4 signer = SigV4.at(NOW, "AK", "secret", "127.0.0.1:9000");

    /** @param headers that are signed beside the usual ones */
    private static String signatureOfTheSdk(String path, Map<String, String> headers) {
        SdkHttpRequest.Builder request = SdkHttpRequest.builder()
                .method(SdkHttpMethod.GET)
                .uri(URI.create("http://127.0.0.1:9000" + path))
                .putHeader("x-amz-content-sha256", "UNSIGNED-PAYLOAD");
        headers.forEach(request::putHeader);
        return AwsV4HttpSigner.create()
                .sign(sign -> sign.request(request.build())
                        .identity(AwsCredentialsIdentity.create("AK", "secret"))
                        .putProperty(AwsV4FamilyHttpSigner.SERVICE_SIGNING_NAME, "s3")
                        .putProperty(AwsV4HttpSigner.REGION_NAME, "us-east-1")
                        .putProperty(AwsV4FamilyHttpSigner.DOUBLE_URL_ENCODE, false)
                        .putProperty(AwsV4FamilyHttpSigner.NORMALIZE_PATH, false)
                        .putProperty(AwsV4FamilyHttpSigner.PAYLOAD_SIGNING_ENABLED, false)
                        .putProperty(HttpSigner.SIGNING_CLOCK, Clock.fixed(NOW, ZoneOffset.UTC)))
                .request()
                .firstMatchingHeader("Authorization")
                .orElseThrow()
                .replaceAll(".*Signature=", "");
    }

    @Test
    void signaturesAreThoseOfTheAwsSdk() {
        assertThat(signer.sign("GET", "/b/k", "", Map.of()).signature())
                .isEqualTo(signatureOfTheSdk("/b/k", Map.of()));
        assertThat(signer.sign("GET", "/b/k", "list-type=2", Map.of("x-amz-a", "1")).signature())
                .isEqualTo(signatureOfTheSdk("/b/k?list-type=2", Map.of("x-amz-a", "1")));
    }

    @Test
    void aRequestThatIsSignedAnewIsSignedRightEachTime() {
        TokenRequest requests = new TokenRequest(signer, "/b/k", Map.of("x-amz-rdma-token", "t"));
        String first = new String(requests.next(), ISO_8859_1);
        String second = new String(requests.next(), ISO_8859_1);
        assertThat(second).isNotEqualTo(first).hasSameSizeAs(first).endsWith("\r\n\r\n");
        for (String request : List.of(first, second)) {
            String id = request.replaceAll("(?s).*x-railhead-request-id: ([0-9a-f]+).*", "$1");
            assertThat(request).contains("Signature=" + signatureOfTheSdk("/b/k",
                    Map.of("x-amz-rdma-token", "t", "x-railhead-request-id", id)));
        }
    }
}
