package io.railhead.gateway.admin;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.log.RecentLogLines;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.LoggerFactory;

/** The gateway's part of a support bundle. */
class SupportIT {
    private static final String CANARY = "CaNaRy7f3d";

    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store)
            .config("""
                    gateway: {events: {enabled: true, token_file: token}}
                    backends:
                      store: {}
                      proxied: {endpoints: ["http://127.0.0.1:9"], proxy: "http://u:CaNaRy7f3d@127.0.0.1:9"}
                    rules: [{backend: store}]
                    audit: {file: audit.jsonl}
                    """)
            .file("token", "CaNaRy7f3d-of-events\n")
            .principals(
                    """
                            principals:
                              - name: operator
                                keys:
                                  - {access_key: ADMIN, secret_key: CaNaRy7f3d-key, session_token: CaNaRy7f3d-token}
                                backend_credential: {access_key: B, secret_key: CaNaRy7f3d-backend}
                                admin: true
                              - name: plain
                                keys: [{access_key: AK, secret_key: SK}]
                                admin: true
                            """);

    private JsonObject parts() {
        HttpResponse<byte[]> answer = new TestClient(gateway::admin, "AK", "SK")
                .send("POST", "/.railhead/admin/support", "{}".getBytes(StandardCharsets.UTF_8));
        String text = new String(answer.body(), StandardCharsets.UTF_8);
        assertThat(answer.statusCode()).as(text).isEqualTo(200);
        return new JsonObject(text).getJsonObject("parts");
    }

    @Test
    void itHasEachPart() {
        JsonObject parts = parts();
        assertThat(parts.fieldNames()).containsExactly("version.json", "config.json",
                "limits.json", "status.json", "metrics.txt", "audit.txt", "threads.txt",
                "log.txt");
        assertThat(new JsonObject(parts.getString("config.json")).getString("cache.memory"))
                .isEqualTo("64MiB");
        assertThat(new JsonObject(parts.getString("limits.json")).getLong("requests"))
                .isPositive();
        assertThat(new JsonObject(parts.getString("status.json")).getJsonObject("gateway"))
                .isNotNull();
        assertThat(parts.getString("metrics.txt")).contains("railhead_build_info");
        assertThat(parts.getString("audit.txt")).contains("kind=\"audit_started\"");
        assertThat(parts.getString("threads.txt")).contains("railhead-audit-file");
    }

    /** Secrets at every place that a bundle is made from. */
    @Test
    void noSecretIsInIt() {
        RecentLogLines.keep();
        Logger log = (Logger) LoggerFactory.getLogger("io.railhead.planted");
        log.setLevel(Level.WARN);
        log.warn("a library said: secret {} and ?X-Amz-Signature={}&x", CANARY + "-key", CANARY);
        log.warn("failed", new IllegalStateException("Authorization: AWS4 " + CANARY));
        TestClient client = gateway.client("AK", "SK");
        for (String path : new String[]{"/b/k?X-Amz-Signature=" + CANARY, "/.railhead/events"}) {
            client.send("GET", path, new byte[0], "Cookie", CANARY, "x-amz-security-token",
                    CANARY, "x-railhead-token", CANARY);
        }
        JsonObject parts = parts();
        assertThat(parts.getString("log.txt")).contains("a library said", "failed");
        assertThat(parts.getString("config.json")).contains("****@127.0.0.1");
        assertThat(parts.encode()).doesNotContainIgnoringCase(CANARY);
    }
}
