package io.railhead.gateway.frontdoor;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.metrics.Metrics;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The ports beside the front door, while what they ask throws what nobody expected. */
final class PlainRequestsTest {
    private final Vertx vertx = Vertx.vertx();
    private final Metrics metrics = new Metrics();

    @AfterEach
    void close() throws Exception {
        vertx.close().toCompletionStage().toCompletableFuture().get(30, SECONDS);
    }

    private static int status(HttpServer server, String path) throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(
                    HttpRequest.newBuilder(
                            URI.create("http://127.0.0.1:" + server.actualPort() + path))
                            .timeout(Duration.ofSeconds(30))
                            .build(),
                    HttpResponse.BodyHandlers.discarding()).statusCode();
        }
    }

    @Test
    void theHealthPortAnswers() throws Exception {
        Readiness broken = new Readiness() {
            @Override
            public String reasonNotReady() {
                throw new NoSuchFieldError("planted");
            }

            @Override
            public List<String> stores() {
                return List.of();
            }

            @Override
            public List<String> fabrics() {
                return List.of();
            }
        };
        HttpServer server = new HealthListener(vertx, metrics, broken).listen("127.0.0.1", 0)
                .toCompletionStage()
                .toCompletableFuture()
                .get(30, SECONDS);
        assertThat(status(server, "/readyz")).isEqualTo(500);
        assertThat(status(server, "/livez")).isEqualTo(200);
        assertThat(metrics.internalErrors.labels("health").get()).isEqualTo(1);
    }

    @Test
    void theAdminPortAnswers() throws Exception {
        Handler<HttpServerRequest> broken = _ -> {
            throw new NoSuchFieldError("planted");
        };
        HttpServer server = new AdminListener(vertx, metrics, Map.of("/", broken))
                .listen("127.0.0.1", 0)
                .toCompletionStage()
                .toCompletableFuture()
                .get(30, SECONDS);
        assertThat(status(server, "/")).isEqualTo(500);
        assertThat(metrics.internalErrors.labels("admin").get()).isEqualTo(1);
    }
}
