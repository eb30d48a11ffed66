package io.railhead.gateway.admin;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.audit.Audit;
import io.railhead.gateway.frontdoor.AdminListener;
import io.railhead.gateway.metrics.Metrics;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class AdminApiTest {
    private final Vertx vertx = Vertx.vertx();
    private final Metrics metrics = new Metrics();

    @AfterEach
    void close() throws Exception {
        vertx.close().toCompletionStage().toCompletableFuture().get(30, SECONDS);
    }

    @Test
    void anErrorInACallIsAnswered() throws Exception {
        AdminApi api = new AdminApi(vertx, (_, _, _) -> {
            throw new NoSuchFieldError("planted");
        }, InstantSource.system(), Duration.ofMinutes(1), metrics, Audit.OFF, Map.of("warm", _ -> {
            throw new AssertionError("nobody may come so far");
        }));
        HttpServer server = new AdminListener(vertx, metrics, api.paths())
                .listen("127.0.0.1", 0)
                .toCompletionStage()
                .toCompletableFuture()
                .get(30, SECONDS);
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpResponse<String> answer = client.send(
                    HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.actualPort()
                            + "/.railhead/admin/warm"))
                            .POST(HttpRequest.BodyPublishers.ofString("{}"))
                            .timeout(Duration.ofSeconds(30))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            assertThat(answer.statusCode()).isEqualTo(500);
            assertThat(answer.body()).contains("<Code>InternalError</Code>");
        }
        assertThat(metrics.internalErrors.labels("admin").get()).isEqualTo(1);
    }
}
