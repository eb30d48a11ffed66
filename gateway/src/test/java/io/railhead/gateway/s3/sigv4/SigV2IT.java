package io.railhead.gateway.s3.sigv4;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestGateway;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A URL presigned with version 2, as {@code aws s3 presign} makes it for a custom endpoint. */
class SigV2IT {
    private static final byte[] OBJECT = "signed the old way".getBytes();

    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            gateway:
              sigv2: true
            rules:
              - freshness: immutable
            """);

    private static URI presigned(URI endpoint, String secret, Instant expires) throws Exception {
        Mac mac = Mac.getInstance("HmacSHA1");
        mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA1"));
        String text = "GET\n\n\n" + expires.getEpochSecond() + "\n/b/key";
        String signature = Base64.getEncoder()
                .encodeToString(mac.doFinal(text.getBytes(StandardCharsets.UTF_8)));
        return endpoint.resolve("/b/key?AWSAccessKeyId=AK&Signature="
                + URLEncoder.encode(signature, StandardCharsets.UTF_8) + "&Expires="
                + expires.getEpochSecond());
    }

    private static HttpResponse<byte[]> get(URI uri) throws Exception {
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofByteArray());
    }

    @Test
    void itIsVerifiedSignedAnewAndServedFromTheCache() throws Exception {
        store.put("/b/key", OBJECT);
        Instant later = Instant.now().plusSeconds(600);
        for (int round = 0; round < 2; round++) {
            assertThat(get(presigned(gateway.endpoint(), "SK", later)).body())
                    .isEqualTo(OBJECT);
        }
        assertThat(store.count("GET /b/key")).isEqualTo(1);
        assertThat(store.queries("/b/key")).containsOnly("");
        assertThat(get(presigned(gateway.endpoint(), "other", later)).statusCode())
                .isEqualTo(403);
        assertThat(get(presigned(gateway.endpoint(), "SK", Instant.now().minusSeconds(5)))
                .statusCode()).isEqualTo(403);
        gateway.assertNoLease();
    }
}
