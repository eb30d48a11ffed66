package io.railhead.gateway.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.GatewayWithAdministrator;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.frontdoor.RawConnection;
import io.railhead.gateway.s3.sigv4.HandSigned;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Who may call, and what is no call. */
class AdminAccessIT extends GatewayWithAdministrator {

    @Test
    void onlyAnAdministratorsWholeSignatureCounts() {
        byte[] body = "{}".getBytes(StandardCharsets.UTF_8);
        String path = "/.railhead/admin/pins";
        assertThat(refused(admin.anonymous("POST", path), 403)).contains("must be signed");
        assertThat(refused(new TestClient(gateway.admin(), "TRAINER", "trainer-secret")
                .send("POST", path, body), 403)).contains("trainer is no administrator");
        assertThat(refused(new TestClient(gateway.admin(), "ADMIN", "guess").send("POST", path,
                body), 403)).contains("SignatureDoesNotMatch");
        assertThat(refused(new TestClient(gateway.admin(), "NOBODY", "x").send("POST", path, body),
                403)).contains("InvalidAccessKeyId");
        for (String unsigned : List.of("UNSIGNED-PAYLOAD", "STREAMING-UNSIGNED-PAYLOAD-TRAILER")) {
            try (RawConnection raw = new RawConnection(gateway.admin())) {
                raw.send(new HandSigned("POST", path, "").host("127.0.0.1")
                        .payload(unsigned)
                        .header("content-length", "2")
                        .head() + "{}");
                assertThat(raw.receive().body()).contains("must be its hash");
            }
        }
        assertThat(refused(admin.at(Clock.offset(Clock.systemUTC(), Duration.ofMinutes(16)))
                .send("POST", path, body), 403)).contains("RequestTimeTooSkewed");
        assertThat(refused(admin.get(path), 405)).contains("Calls are posted");
        HttpRequest presigned = HttpRequest
                .newBuilder(admin.presigned("POST", path, Duration.ofMinutes(1)))
                .POST(HttpRequest.BodyPublishers.noBody())
                .build();
        assertThat(refused(admin.send(presigned), 403)).contains("Authorization header");
        HttpRequest signed = admin.signed("POST", path, body);
        HttpRequest.Builder tampered = HttpRequest.newBuilder(signed.uri())
                .POST(HttpRequest.BodyPublishers.ofString("{} "));
        signed.headers()
                .map()
                .forEach((name, values) -> tampered.header(name, values.getFirst()));
        assertThat(refused(admin.send(tampered.build()), 400))
                .contains("XAmzContentSHA256Mismatch");
        assertThat(calls("pins", "AccessDenied")).isEqualTo(3);
        assertThat(calls("pins", "done")).isZero();
        assertThat(admin.send("POST", path, body).statusCode()).isEqualTo(200);
        assertThat(calls("pins", "done")).isEqualTo(1);
    }

    @Test
    void whatIsNoCallIsRefused() {
        for (String wrong : List.of("[]", "x", "{\"bucket\":\"b\"}", "{\"prefix\":\"\"}",
                "{\"bucket\":\"b\",\"prefix\":\"p\",\"key\":\"k\"}",
                "{\"bucket\":\"b\",\"key\":\"\"}", "{\"bucket\":\"../b\",\"prefix\":\"\"}",
                "{\"bucket\":\"b\",\"prefix\":\"\",\"prefiks\":\"\"}",
                "{\"bucket\":\"b\",\"prefix\":1}")) {
            assertThat(refused(admin.send("POST", "/.railhead/admin/evict", wrong.getBytes()), 400))
                    .as(wrong)
                    .contains("InvalidRequest");
        }
        for (JsonObject wrong : List.of(of("b", "").put("concurrency", 0),
                of("b", "").put("bytes_per_second", "1"), of("b", "").put("keys", "k"),
                of("b", "").put("keys", JsonArray.of("k")), of("b", "").put("rate", 1))) {
            refused(post("warm", wrong), 400);
        }
        refused(admin.send("POST", "/.railhead/admin/pins", new byte[(4 << 20) + 1]), 413);
        assertThat(admin.send("POST", "/.railhead/admin/reboot", new byte[0]).statusCode())
                .isEqualTo(404);
        assertThat(refused(post("warm", of("none", "")), 200)).contains("\"objects\":0");
    }

    @Test
    void thePortIsNotAskedForByName() throws Exception {
        int port = URI.create(gateway.admin().toString()).getPort();
        for (String host : List.of("evil.example", "evil.example:9902", "localhost.evil.example",
                "127.0.0.1.nip.io", "", "[localhost]")) {
            try (RawConnection raw = new RawConnection(gateway.admin())) {
                raw.send("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
                assertThat(raw.receiveHead().status()).as(host).isIn(400, 403);
            }
        }
        for (String host : List.of("localhost", "LOCALHOST:" + port, "127.0.0.1:" + port, "[::1]",
                "[::1]:9902", "10.1.2.3")) {
            try (RawConnection raw = new RawConnection(gateway.admin())) {
                raw.send("GET /none HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
                assertThat(raw.receiveHead().status()).as(host).isEqualTo(404);
            }
        }
    }

    @Test
    void withoutPrincipalsThereIsNoAdministrator() {
        try (TestGateway passing = TestGateway.over(store.endpoint())
                .config("gateway: {authentication: pass_through}")
                .principals("")
                .start()) {
            TestClient client = new TestClient(passing::admin, "ADMIN", "admin-secret");
            assertThat(refused(client.send("POST", "/.railhead/admin/pins", "{}".getBytes()), 501))
                    .contains("pass_through the gateway knows no administrators");
        }
    }
}
