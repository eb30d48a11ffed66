package io.railhead.gateway.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.frontdoor.RawConnection;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a client sees through the gateway is what it sees without. */
class FidelityIT {
    private static final byte[] BODY = "hello, railhead".getBytes(StandardCharsets.US_ASCII);

    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store);
    private final TestClient client = gateway.client();

    /** What the store heard of the next PUT. */
    private AtomicReference<String> heard(String header) {
        AtomicReference<String> heard = new AtomicReference<>();
        store.fault((exchange, bytes) -> {
            heard.set(exchange.getRequestHeaders().getFirst(header));
            return false;
        });
        return heard;
    }

    @Test
    void aRelayedAnswerKeepsTheStoresRequestId() {
        HttpResponse<byte[]> answer = client.delete("/b/key");
        assertThat(answer.headers().allValues("x-amz-request-id"))
                .containsExactly("%016X".formatted(store.numberOf("DELETE")));
        assertThat(answer.headers().firstValue("x-railhead-request-id"))
                .hasValueSatisfying(ours -> assertThat(ours).matches("[0-9A-F]{16}"));
    }

    @Test
    void aReadThatNamesAnEncryptionIsTheStoresToJudge() {
        store.put("/b/key", BODY);
        client.get("/b/key");
        client.get("/b/key");
        for (HttpResponse<byte[]> answer : List.of(
                client.get("/b/key", "x-amz-server-side-encryption", "aws:kms"),
                client.get("/b/key", "x-amz-server-side-encryption-aws-kms-key-id", "k"),
                client.get("/b/key", "x-amz-server-side-encryption-customer-key", "k"))) {
            assertThat(answer.headers().firstValue("x-cache")).contains("BYPASS");
        }
    }

    @Test
    void aReadWithAStoresOwnHeaderIsTheStoresToJudge() {
        store.put("/b/key", BODY);
        client.get("/b/key");
        for (HttpResponse<byte[]> answer : List.of(client.get("/b/key", "X-Minio-Extract", "true"),
                client.head("/b/key", "x-minio-extract", "true"))) {
            assertThat(answer.headers().firstValue("x-cache")).contains("BYPASS");
        }
        for (HttpResponse<byte[]> answer : List.of(client.get("/b/key", "X-Request-Id", "1"),
                client.get("/b/key", "x-amzn-trace-id", "1"),
                client.get("/b/key", "x-amz-api-version", "2006-03-01"),
                client.get("/b/key", "X-Amz-Checksum-Mode", "ENABLED"))) {
            assertThat(answer.headers().firstValue("x-cache")).isPresent()
                    .get()
                    .isNotEqualTo("BYPASS");
        }
    }

    @Test
    void whatWasWrittenIsFoundWhereTheClientAsked() {
        locate(store.endpoint() + "/b/a%20key");
        assertThat(client.send("POST", "/b", BODY).headers().firstValue("location"))
                .contains(gateway.endpoint() + "/b/a%20key");
        locate("http://b.store.example/a%20key");
        assertThat(client.send("POST", "/b", BODY).headers().firstValue("location"))
                .contains(gateway.endpoint() + "/b/a%20key");
        for (String other : List.of("/b", "http://elsewhere/other/key", "not: a location")) {
            locate(other);
            assertThat(client.send("POST", "/b", BODY).headers().firstValue("location"))
                    .contains(other);
        }
    }

    private void locate(String location) {
        store.fault((exchange, bytes) -> {
            exchange.getResponseHeaders().set("Location", location);
            return false;
        });
    }

    @Test
    void aPreflightOfAPresignedUrlReachesTheStore() {
        store.put("/b/key", BODY);
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send("OPTIONS /b/key?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=00 HTTP/1.1"
                    + "\r\nHost: h\r\nOrigin: http://o\r\nAccess-Control-Request-Method: GET\r\n"
                    + "\r\n");
            assertThat(raw.receive().status()).isEqualTo(200);
        }
        assertThat(store.count("OPTIONS /b/key")).isOne();
    }

    @Test
    void aContentEncodingArrivesAsItWasSent() {
        AtomicReference<String> heard = heard("Content-Encoding");
        client.put("/b/key", BODY, "Content-Encoding", "deflate, gzip");
        assertThat(heard.get()).isEqualTo("deflate, gzip");
    }
}
