package io.railhead.gateway.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestGateway;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Readiness and the start, where events cannot be written. */
class RequiredAuditIT {
    @TempDir
    private Path folder;

    private static HttpResponse<String> ready(TestGateway gateway) {
        return HttpClient.newHttpClient()
                .sendAsync(HttpRequest.newBuilder(gateway.health().resolve("/readyz")).build(),
                        HttpResponse.BodyHandlers.ofString())
                .join();
    }

    private TestGateway gateway(FakeStore store, String audit) {
        return TestGateway.over(store).config("audit: {" + audit + "}");
    }

    @Test
    void withoutItsRequiredStreamTheGatewayIsNotReadyAndServesOn() throws Exception {
        Path logs = Files.createDirectory(folder.resolve("logs"));
        try (TestGateway gateway = gateway(new FakeStore(),
                "file: " + logs.resolve("audit.jsonl") + ", required: true").start()) {
            assertThat(ready(gateway).statusCode()).isEqualTo(200);
            Path away = Files.move(logs, folder.resolve("away"));
            TestGateway.await(() -> ready(gateway).statusCode() == 503);
            assertThat(ready(gateway).body()).startsWith("audit events cannot be written: file");
            assertThat(gateway.client().get("/b/none").statusCode()).isEqualTo(404);
            assertThat(gateway.client("AK", "guess").get("/b/none").statusCode()).isEqualTo(403);
            Files.move(away, logs);
            TestGateway.await(() -> ready(gateway).statusCode() == 200);
            TestGateway.await(() -> read(logs).contains("login_refused"));
            assertThat(gateway.metric(
                    "railhead_audit_lost_total{sink=\"file\",reason=\"full\",}")).isZero();
        }
    }

    private static String read(Path logs) {
        try {
            return Files.readString(logs.resolve("audit.jsonl"));
        } catch (java.io.IOException e) {
            return "";
        }
    }

    @Test
    void anUnreachableSyslogServerDelaysNoStart() throws Exception {
        try (TestGateway gateway = gateway(new FakeStore(),
                "syslog: {server: \"127.0.0.1:1\"}").start()) {
            assertThat(ready(gateway).statusCode()).as("not required").isEqualTo(200);
            TestGateway.await(
                    () -> gateway.metric("railhead_audit_failing{sink=\"syslog\",}") == 1);
        }
    }

    @Test
    void aFileThatCannotBeOpenedStopsTheStart() throws Exception {
        Path taken = Files.createDirectory(folder.resolve("taken"));
        try (FakeStore store = new FakeStore()) {
            assertThatThrownBy(() -> gateway(store, "file: " + taken).start())
                    .hasMessageContaining("audit.file: cannot be written");
        }
    }
}
