package io.railhead.gateway.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What the status page is given, and how it is served. */
class StatusIT {
    private static final byte[] OBJECT = new byte[1_000_000];
    private static final List<String> SECRETS = List.of("SECRET-ONE", "SECRET-TWO", "SECRET-THREE",
            "SECRET-FOUR", "SECRET-FIVE", "SECRET-SIX");

    private final HttpClient http = HttpClient.newHttpClient();
    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            gateway:
              name: rack7
              events:
                enabled: true
                token_file: token
            rules:
              - bucket: held
                freshness: immutable
              - bucket: plain
                freshness: immutable
                rdma: off
            """).file("token", "SECRET-ONE-0123456789").principals("""
            principals:
              - name: trainer
                keys:
                  - {access_key: AK, secret_key: SECRET-TWO}
                  - {access_key: AK2, secret_key: SECRET-THREE, session_token: SECRET-FOUR}
                backend_credential:
                  access_key: STORE
                  secret_key: SECRET-FIVE
                  session_token: SECRET-SIX
            """);
    private final TestClient client = gateway.client("AK", "SECRET-TWO");

    @BeforeEach
    void start() {
        Stream.of("held", "plain", "b").forEach(bucket -> store.put("/" + bucket + "/o", OBJECT));
    }

    @AfterEach
    void stop() {
        http.close();
    }

    private HttpResponse<String> ask(String method, String path) {
        return http.sendAsync(HttpRequest.newBuilder(gateway.admin().resolve(path))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .build(), HttpResponse.BodyHandlers.ofString()).join();
    }

    /** Past the second for which one answer serves all. */
    private JsonObject status() {
        JsonObject first = new JsonObject(ask("GET", "/status.json").body());
        JsonObject[] next = {first};
        TestGateway.await(() -> {
            next[0] = new JsonObject(ask("GET", "/status.json").body());
            return now(next[0]) > now(first);
        });
        return next[0];
    }

    private static long now(JsonObject status) {
        return status.getJsonObject("gateway").getLong("now_millis");
    }

    @Test
    void itIsReadAndNothingElse() {
        List.of("/", "/status.css", "/status.js", "/status.svg", "/status.json")
                .forEach(this::assertOnlyRead);
    }

    private void assertOnlyRead(String path) {
        HttpResponse<String> got = ask("GET", path);
        assertThat(got.statusCode()).isEqualTo(200);
        assertThat(got.body()).isNotEmpty();
        assertThat(got.headers().firstValue("content-security-policy").orElseThrow())
                .startsWith("default-src 'none'")
                .doesNotContain("unsafe");
        assertThat(got.headers().firstValue("x-content-type-options")).contains("nosniff");
        assertThat(got.headers().firstValue("x-frame-options")).contains("DENY");
        assertThat(got.headers().firstValue("cache-control")).contains("no-store");
        assertThat(got.headers().firstValue("access-control-allow-origin")).isEmpty();

        HttpResponse<String> head = ask("HEAD", path);
        assertThat(head.statusCode()).isEqualTo(200);
        assertThat(head.body()).isEmpty();
        for (String method : List.of("POST", "PUT", "DELETE", "PATCH", "OPTIONS")) {
            HttpResponse<String> refused = ask(method, path);
            assertThat(refused.statusCode()).isEqualTo(405);
            assertThat(refused.headers().firstValue("allow")).contains("GET, HEAD");
        }
    }

    @Test
    void thePageNeedsNothingFromElsewhere() {
        Stream.of("/", "/status.css", "/status.js")
                .map(path -> ask("GET", path).body())
                .forEach(file -> assertThat(file.replace("http://www.w3.org/2000/svg", ""))
                        .doesNotContain("http:", "https:", "innerHTML", "style=",
                                "onclick"));
    }

    @Test
    void whatWasReadIsCountedByPathAndBucket() {
        for (int i = 0; i < 3; i++) {
            assertThat(client.get("/held/o").statusCode()).isEqualTo(200);
        }
        assertThat(client.get("/plain/o").statusCode()).isEqualTo(200);
        assertThat(client.get("/b/none").statusCode()).isEqualTo(404);
        assertThat(client.get("/guessed/none").statusCode()).isEqualTo(404);
        try (TestPeer peer = new TestPeer(client, "SECRET-TWO", 2 << 20)) {
            assertThat(client.get("/held/o", peer.headers(0, 2 << 20)).statusCode())
                    .isEqualTo(200);
            assertThat(client.get("/plain/o", peer.headers(0, 2 << 20)).statusCode())
                    .isEqualTo(200);
        }
        gateway.assertNoLease();
        JsonObject status = status();
        assertThat(status.getJsonObject("gateway").getString("name")).isEqualTo("rack7");
        assertThat(status.getJsonObject("gateway").getString("reason")).isEmpty();
        JsonObject total = status.getJsonObject("total");
        assertThat(total.getLong("hits")).isEqualTo(4);
        assertThat(total.getLong("misses")).isEqualTo(2);
        assertThat(total.getLong("spared_bytes")).isEqualTo(4L * OBJECT.length);
        assertThat(total.getLong("one_sided_bytes")).isEqualTo(OBJECT.length);
        assertThat(status.getJsonObject("declines").getMap()).containsExactly(entry("rule", 1));
        assertThat(status.getJsonArray("buckets").stream().map(JsonObject.class::cast))
                .extracting(bucket -> bucket.getString("bucket"),
                        bucket -> bucket.getLong("requests"), bucket -> bucket.getLong("bytes"))
                .startsWith(tuple("held", 4L, 4L * OBJECT.length),
                        tuple("plain", 2L, 2L * OBJECT.length))
                .extracting(tuple -> tuple.toList().getFirst())
                .containsExactly("held", "plain", "__other__");
        assertThat(gateway.metric("railhead_bucket_requests_total{bucket=\"held\",}"))
                .isEqualTo(4);
        assertThat(gateway.metric("railhead_bucket_bytes_total{bucket=\"held\",}"))
                .isEqualTo(4.0 * OBJECT.length);
        assertThat(gateway.metric(
                "railhead_cache_bytes_total{result=\"hit\",transport=\"loopback\",}"))
                .isEqualTo(OBJECT.length);
        assertThat(gateway.metric("railhead_backend_seconds_count{backend=\"store\",}"))
                .isPositive();
        assertThat(status.getJsonArray("latencies").getJsonObject(0).getString("operation"))
                .isEqualTo("GetObject");
        // The last page of a fill is counted just after its bytes were delivered.
        long pages = 2L * (1_000_000 / 4096 + 1) * 4096;
        TestGateway.await(() -> held(status()) == pages);
    }

    private static Map.Entry<String, Object> entry(String name, Object value) {
        return Map.entry(name, value);
    }

    private static long held(JsonObject status) {
        return status.getJsonObject("memory")
                .getJsonArray("cells")
                .stream()
                .map(JsonArray.class::cast)
                .mapToLong(cell -> cell.getLong(2))
                .sum();
    }

    @Test
    void errorsAreShownWithoutTheirKeys() {
        TestClient stranger = gateway.client("AK", "wrong");
        assertThat(stranger.get("/held/hidden-key").statusCode()).isEqualTo(403);
        store.fault((exchange, object) -> {
            exchange.close();
            return true;
        });
        assertThat(client.get("/b/o").statusCode()).isEqualTo(503);
        JsonObject status = status();
        assertThat(status.getJsonArray("errors").stream().map(JsonObject.class::cast))
                .extracting(error -> error.getString("code"), error -> error.getInteger("status"),
                        error -> error.getString("bucket"))
                .contains(tuple("SignatureDoesNotMatch", 403, "held"),
                        tuple("ServiceUnavailable", 503, "b"));
        assertThat(status.encode()).doesNotContain("hidden-key");
    }

    @Test
    void failuresAreCountedAndEqualOnesAreOne() {
        for (int i = 0; i < 4; i++) {
            assertThat(client.get("/held/o").statusCode()).isEqualTo(200);
        }
        store.fault((exchange, object) -> {
            exchange.close();
            return true;
        });
        for (int i = 0; i < 3; i++) {
            assertThat(client.get("/b/o").statusCode()).isEqualTo(503);
        }
        TestGateway.await(() -> status().getJsonObject("total").getLong("answered") == 7);
        JsonObject status = status();
        assertThat(status.getJsonObject("total").getLong("failed")).isEqualTo(3);
        JsonObject error = status.getJsonArray("errors").getJsonObject(0);
        assertThat(error.getString("code")).isEqualTo("ServiceUnavailable");
        assertThat(error.getLong("times")).isEqualTo(3);
        assertThat(error.getLong("since_millis")).isLessThanOrEqualTo(error.getLong("at_millis"));
        assertThat(status.getJsonObject("history").getJsonArray("error_ratio"))
                .hasSameSizeAs(status.getJsonObject("history").getJsonArray("store"));
    }

    @Test
    void theProcessAndItsRefusedFilesAreShown() throws IOException {
        client.get("/held/o");
        JsonObject process = status().getJsonObject("gateway");
        assertThat(process.getInteger("connections")).isPositive()
                .isLessThan(process.getInteger("connection_limit"));
        assertThat(process.getLong("heap_bytes")).isPositive()
                .isLessThanOrEqualTo(process.getLong("heap_max_bytes"));
        assertThat(process.getInteger("principals")).isEqualTo(1);
        assertThat(process.getString("version")).isNotNull();
        assertThat(process.getLong("certificate_until_millis")).isNull();
        assertThat(process.getJsonObject("refused_files").getMap()).isEmpty();

        Path file = gateway.directory().resolve("credentials.yaml");
        String usable = Files.readString(file);
        Files.writeString(file, "principals: SECRET-SEVEN\n");
        gateway.credentials().reload();
        JsonObject refused = status().getJsonObject("gateway").getJsonObject("refused_files");
        assertThat(refused.getString("credentials")).contains("principals")
                .doesNotContain("SECRET-SEVEN");
        Files.writeString(file, usable + "# again\n");
        gateway.credentials().reload();
        assertThat(status().getJsonObject("gateway").getJsonObject("refused_files").getMap())
                .isEmpty();
    }

    @Test
    void theConfigurationIsShownAndNoSecretIs() {
        client.get("/held/o");
        gateway.client("AK2", "nothing").get("/held/o");
        String json = status().encode();
        JsonObject configuration = new JsonObject(json).getJsonObject("configuration");
        assertThat(configuration.getMap()).containsEntry("gateway.name", "rack7")
                .containsEntry("gateway.listen", "127.0.0.1:0")
                .containsEntry("gateway.drain", "5s")
                .containsEntry("gateway.header_timeout", "10s")
                .containsEntry("gateway.events.token_file", "token")
                .containsEntry("cache.memory", "64MiB")
                .containsEntry("cache.page", "256KiB")
                .containsEntry("backends.store.endpoints", store.endpoint().toString())
                .containsEntry("backends.store.region", "us-east-1")
                .containsEntry("rules[0].bucket", "held")
                .containsEntry("rules[0].freshness", "immutable")
                .containsEntry("rules[1].rdma", "false")
                .containsEntry("rules[2].freshness", "strong")
                .containsEntry("rdma.verbs.enabled", "false")
                .containsEntry("rdma.token_age", "60s")
                .containsEntry("admin.listen", "127.0.0.1:0");
        String page = ask("GET", "/").body() + ask("GET", "/status.js").body();
        SECRETS.forEach(secret -> assertThat(json + page).doesNotContain(secret));
    }

    @Test
    void manyWhoLookShareOneAnswer() {
        List<String> answers = Stream.generate(() -> CompletableFuture
                .supplyAsync(() -> ask("GET", "/status.json").body()))
                .limit(20)
                .toList()
                .stream()
                .map(CompletableFuture::join)
                .toList();
        assertThat(answers.stream().distinct().count()).isLessThan(answers.size());
    }
}
