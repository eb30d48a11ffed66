package io.railhead.gateway.s3.sigv4;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.Headers;
import io.railhead.gateway.identity.TestCredentials;
import io.railhead.gateway.request.Address;
import io.railhead.gateway.request.RequestSource;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.Query;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.http.SdkHttpMethod;

/** What a request shows of itself when it is printed. */
class RedactionTest {
    private final Authenticator authenticator = new Authenticator(TestCredentials.store());

    @SuppressWarnings("NullAway")
    private String printed(RequestHead head) {
        Authentication who = authenticator.authenticate(head, SdkRequests.NOW);
        return new S3Request(head, Address.of(head.rawPath(), null, List.of()),
                Query.parse(head.rawQuery()), who,
                RequestSource.anonymous(null, false).as(who),
                null).toString();
    }

    @Test
    void neitherSignatureNorSecretIsPrintedOfASignedRequest() {
        RequestHead head = SdkRequests.sign(SdkHttpMethod.GET, "/bucket/key", Map.of(),
                new byte[0], options -> {}).head();
        String authorization = String.valueOf(head.headers().get("Authorization"));
        String signature = authorization.substring(authorization.lastIndexOf('=') + 1);
        assertThat(signature).hasSize(64);
        assertThat(printed(head)).doesNotContain(signature).contains("/bucket/key");
    }

    @Test
    void norOfAPresignedOne() {
        RequestHead head = SdkRequests.sign(SdkHttpMethod.GET, "/bucket/key?versionId=7",
                Map.of(), new byte[0], SdkRequests::presigned).head();
        String query = String.valueOf(head.rawQuery());
        String signature = query.replaceFirst(".*X-Amz-Signature=([0-9a-f]+).*", "$1");
        assertThat(signature).hasSize(64);
        assertThat(printed(head)).doesNotContain(signature).contains("versionId=7");
    }

    @Test
    void aClaimPrintsNeitherSignatureNorToken() {
        SignatureInput signatureInput = new SignatureInput("AK",
                new SignatureScope("20260101", "r", "s3"), List.of("host"),
                "f".repeat(64), "20260101T000000Z", SdkRequests.NOW, -1,
                SessionToken.of("the-token"),
                new PayloadSigning.Unsigned(),
                false);
        assertThat(signatureInput.toString()).contains("AK")
                .doesNotContain("fff")
                .doesNotContain("the-token");
        assertThat(Headers.builder().add("Authorization", "secret").build().toString())
                .doesNotContain("secret");
    }
}
