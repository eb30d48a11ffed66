package io.railhead.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** What an administrator has a gateway do. */
class AdminIT {
    private static final int RUN = 256 << 10;

    @TempDir
    Path folder;

    private FakeStore store;
    private TestGateway gateway;
    private TestClient admin;
    private TestClient trainer;

    @BeforeEach
    void start() {
        store = new FakeStore();
        gateway = new TestGateway("""
                cache: {memory: 32MiB, page: 64KiB, run: 256KiB, window: 1MiB}
                backends:
                  store:
                    endpoints: [%s]
                rules:
                  - {bucket: plain, cache: off}
                  - {bucket: small, max_object: 1KiB}
                  - {freshness: {bounded: 1h}, shared: true}
                """.formatted(store.endpoint()), """
                principals:
                  - name: operator
                    keys:
                      - {access_key: ADMIN, secret_key: admin-secret}
                      - {access_key: AK, secret_key: SK}
                    admin: true
                  - name: trainer
                    keys: [{access_key: TRAINER, secret_key: trainer-secret}]
                """);
        admin = new TestClient(gateway.admin(), "ADMIN", "admin-secret");
        trainer = gateway.client("TRAINER", "trainer-secret");
    }

    @AfterEach
    void stop() {
        TestGateway.await(() -> gateway.metric("railhead_requests_in_flight") == 0);
        gateway.assertNoLease();
        gateway.close();
        store.close();
    }

    private static byte[] random(int seed, int length) {
        byte[] object = new byte[length];
        new Random(seed).nextBytes(object);
        return object;
    }

    private HttpResponse<byte[]> post(String call, JsonObject body) {
        return admin.send("POST", "/.railhead/admin/" + call,
                body.encode().getBytes(StandardCharsets.UTF_8));
    }

    /** The last line of what is answered. */
    private JsonObject call(String call, JsonObject body) {
        HttpResponse<byte[]> answer = post(call, body);
        String text = new String(answer.body(), StandardCharsets.UTF_8);
        assertThat(answer.statusCode()).as(text).isEqualTo(200);
        return new JsonObject(text.lines().toList().getLast());
    }

    private String refused(HttpResponse<byte[]> answer, int status) {
        String document = new String(answer.body(), StandardCharsets.UTF_8);
        assertThat(answer.statusCode()).as(document).isEqualTo(status);
        return document;
    }

    private double calls(String call, String result) {
        return gateway.metric("railhead_admin_calls_total{call=\"" + call + "\",result=\"" + result
                + "\",}");
    }

    private static JsonObject of(String bucket, String prefix) {
        return JsonObject.of("bucket", bucket, "prefix", prefix);
    }

    private void putFive() {
        for (int i = 0; i < 5; i++) {
            store.put("/b/set/a%20" + i, random(i, RUN + 1000 * i));
        }
        store.put("/b/other", random(9, 100));
    }

    @Test
    void whatWasWarmedIsReadWithoutTheStoresBytes() {
        putFive();
        JsonObject done = call("warm", of("b", "set/"));
        assertThat(done.getString("state")).isEqualTo("done");
        assertThat(done.getLong("objects")).isEqualTo(5);
        assertThat(done.getLong("bytes")).isEqualTo(5 * RUN + 10_000);
        assertThat(done.getString("last_key")).isEqualTo("set/a 4");
        long before = store.count("GET");
        for (int i = 0; i < 5; i++) {
            assertThat(trainer.get("/b/set/a%20" + i).body()).isEqualTo(random(i, RUN + 1000 * i));
        }
        assertThat(store.count("GET")).isEqualTo(before);
        assertThat(store.count("GET /b/other")).isZero();
        assertThat(calls("warm", "done")).isEqualTo(1);

        JsonObject again = call("warm", of("b", "set/"));
        assertThat(again.getLong("held")).isEqualTo(5);
        assertThat(again.getLong("objects")).isZero();
        assertThat(again.getLong("bytes")).isZero();
        // Three pages of the listing, and nothing of the objects.
        assertThat(store.count("GET")).isEqualTo(before + 3);
    }

    @Test
    void warmingGoesOnWhereItIsTold() {
        putFive();
        JsonObject done = call("warm", of("b", "").put("from", "set/a 2"));
        assertThat(done.getLong("objects")).isEqualTo(2);
        assertThat(store.count("GET /b/set/a%200")).isZero();
        assertThat(store.count("GET /b/set/a%203")).isPositive();
        store.put("/b/empty", new byte[0]);
        JsonObject named = call("warm", JsonObject.of("bucket", "b", "keys",
                JsonArray.of("set/a 0", "set/a 4", "none", "empty")));
        assertThat(named.getLong("objects")).isEqualTo(1);
        assertThat(named.getLong("held")).isEqualTo(2);
        assertThat(named.getLong("refused")).isEqualTo(1);
        assertThat(named.getLong("bytes")).isEqualTo(RUN);
        assertThat(named.getString("state")).isEqualTo("done");
    }

    @Test
    void whatMayNotBeCachedIsNotWarmed() {
        store.put("/plain/a", random(1, 100));
        store.put("/small/a", random(1, 2000));
        store.put("/small/b", random(1, 1000));
        assertThat(call("warm", of("plain", "")).getLong("not_cached")).isEqualTo(1);
        JsonObject small = call("warm", of("small", ""));
        assertThat(small.getLong("not_cached")).isEqualTo(1);
        assertThat(small.getLong("objects")).isEqualTo(1);
        assertThat(store.count("GET /plain/a")).isZero();
        assertThat(store.count("GET /small/a")).isZero();
    }

    @Test
    void whatTheStoreDoesNotLetTheAdministratorReadIsNotWarmed() {
        putFive();
        store.deny("ADMIN");
        assertThat(refused(post("warm", of("b", "set/")), 403))
                .contains("The store does not let operator list b");
        JsonObject keys = call("warm",
                JsonObject.of("bucket", "b", "keys", JsonArray.of("other")));
        assertThat(keys.getLong("refused")).isEqualTo(1);
        assertThat(calls("warm", "AccessDenied")).isEqualTo(1);
    }

    @Test
    void warmingStopsWhereSomethingWouldHaveToGo() {
        for (int i = 10; i < 50; i++) {
            store.put("/b/big" + i, random(i, 1 << 20));
        }
        JsonObject full = call("warm", of("b", "").put("concurrency", 2));
        assertThat(full.getString("state")).isEqualTo("full");
        assertThat(full.getLong("objects")).isBetween(20L, 31L);
        assertThat(full.getString("last_key")).startsWith("big");
        assertThat(gateway.metric("railhead_evicted_pages_total")).isZero();
        // What is pinned may displace the rest, up to the limit.
        assertThat(call("pin", of("b", "big4")).getLong("pinned_bytes")).isZero();
        JsonObject pinned = call("warm", of("b", "big4"));
        assertThat(pinned.getString("state")).isEqualTo("done");
        assertThat(pinned.getLong("objects")).isEqualTo(10);
        assertThat(gateway.metric("railhead_pinned_bytes")).isEqualTo(10 << 20);
        assertThat(gateway.metric("railhead_evicted_pages_total")).isPositive();
    }

    @Test
    void warmingKeepsItsRate() {
        store.put("/b/a", random(1, 4 * RUN));
        long began = System.nanoTime();
        JsonObject done = call("warm",
                of("b", "").put("bytes_per_second", 2 * RUN).put("concurrency", 1));
        // The first run goes at once, each of the others half a second later.
        assertThat(System.nanoTime() - began).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(1400));
        assertThat(done.getLong("bytes")).isEqualTo(4 * RUN);
        assertThat(done.getLong("bytes_per_second")).isLessThan(3 * RUN);
    }

    @Test
    void aStoreThatFailsEndsAWarmingWithItsReason() {
        putFive();
        store.fault((exchange, object) -> {
            if (exchange.getRequestURI().getPath().equals("/b/set/a 3")) {
                exchange.close();
                return true;
            }
            return false;
        });
        JsonObject failed = call("warm", of("b", "set/"));
        assertThat(failed.getString("state")).isEqualTo("failed");
        assertThat(failed.getLong("objects")).isEqualTo(4);
        assertThat(failed.getLong("failed")).isEqualTo(1);
        assertThat(failed.getString("last_key")).isEqualTo("set/a 2");
        assertThat(failed.getString("reason")).startsWith("set/a 3: ");
    }

    @Test
    void aWarmingEndsWithItsCaller() throws Exception {
        putFive();
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        store.fault((exchange, object) -> {
            asked.countDown();
            awaitQuietly(goOn);
            return false;
        });
        try (HttpClient http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .build()) {
            CompletableFuture<?> _ = http.sendAsync(
                    admin.signed("POST", "/.railhead/admin/warm", of("b", "set/").put("concurrency",
                            1).encode().getBytes(StandardCharsets.UTF_8)),
                    HttpResponse.BodyHandlers.ofString());
            assertThat(asked.await(20, TimeUnit.SECONDS)).isTrue();
            http.shutdownNow();
        }
        TestGateway.await(() -> calls("warm", "cancelled") == 1);
        goOn.countDown();
        assertThat(store.count("GET /b/set/")).isEqualTo(1);
    }

    @Test
    void aGatewayThatStopsEndsItsWarmings() throws Exception {
        putFive();
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        store.fault((exchange, object) -> {
            asked.countDown();
            awaitQuietly(goOn);
            return false;
        });
        TestGateway other = new TestGateway("""
                cache: {memory: 32MiB, window: 1MiB, run: 256KiB}
                backends: {store: {endpoints: [%s]}}
                """.formatted(store.endpoint()), """
                principals:
                  - {name: o, keys: [{access_key: ADMIN, secret_key: admin-secret}], admin: true}
                """);
        var warming = new TestClient(other.admin(), "ADMIN", "admin-secret").sendAsync("POST",
                "/.railhead/admin/warm",
                of("b", "set/").encode().getBytes(StandardCharsets.UTF_8));
        assertThat(asked.await(20, TimeUnit.SECONDS)).isTrue();
        // That it closes says that no lease is open.
        other.close();
        goOn.countDown();
        assertThat(warming.handle((answer, failure) -> failure != null ? 503 : answer.statusCode())
                .join()).isEqualTo(503);
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void whatIsEvictedIsFetchedAnew() {
        putFive();
        call("warm", of("b", ""));
        long before = store.count("GET /b/set/a%200");
        assertThat(call("evict", JsonObject.of("bucket", "b", "key", "set/a 0")))
                .isEqualTo(JsonObject.of("objects", 1, "bytes", RUN));
        assertThat(trainer.get("/b/set/a%200").body()).isEqualTo(random(0, RUN));
        assertThat(store.count("GET /b/set/a%200")).isEqualTo(before + 1);
        assertThat(call("evict", of("b", "set/")).getLong("objects")).isEqualTo(5);
        assertThat(call("evict", of("b", "")).getLong("objects")).isEqualTo(1);
        assertThat(call("evict", of("b", ""))).isEqualTo(JsonObject.of("objects", 0, "bytes", 0));
        TestGateway.await(() -> gateway.memory().usedBytes() == 0);
    }

    @Test
    void pinsAreListedBoundedAndTakenAway() {
        putFive();
        call("warm", of("b", ""));
        JsonObject key = JsonObject.of("bucket", "b", "key", "set/a 0");
        long limit = call("pin", key).getLong("limit_bytes");
        assertThat(limit).isLessThan(16 << 20).isGreaterThan(14 << 20);
        call("pin", of("b", "set/"));
        JsonObject pins = call("pins", new JsonObject());
        assertThat(pins.getLong("pinned_bytes")).isEqualTo(5 * RUN + 4 * 4096);
        assertThat(pins.getJsonArray("pins")).containsExactly(
                JsonObject.of("objects", 1, "bytes", RUN, "bucket", "b", "key", "set/a 0"),
                JsonObject.of("objects", 5, "bytes", 5 * RUN + 4 * 4096, "bucket", "b", "prefix",
                        "set/"));
        trainer.put("/b/set/a%201", random(1, 10));
        assertThat(call("pins", new JsonObject()).getLong("pinned_bytes"))
                .isLessThan(5 * RUN);
        call("unpin", of("b", "set/"));
        assertThat(gateway.metric("railhead_pinned_bytes")).isEqualTo(RUN);
        assertThat(refused(post("unpin", of("b", "set/")), 404)).contains("There is no such pin");
        for (int i = 0; i < 16; i++) {
            store.put("/big/" + i, random(i, 1 << 20));
        }
        assertThat(call("warm", of("big", "")).getString("state")).isEqualTo("done");
        assertThat(refused(post("pin", of("big", "")), 409)).contains("cache.pin_limit");
        assertThat(gateway.metric("railhead_pinned_bytes")).isEqualTo(RUN);
    }

    @Test
    void aDrainedGatewayIsNotReadyAndServesOn() {
        putFive();
        assertThat(ready().statusCode()).isEqualTo(200);
        assertThat(call("drain", JsonObject.of("wait_seconds", 20))).isEqualTo(
                JsonObject.of("state", "done", "draining", true, "in_flight", 0));
        assertThat(ready().statusCode()).isEqualTo(503);
        assertThat(ready().body()).contains("an administrator asked");
        HttpResponse<byte[]> served = trainer.get("/b/other");
        assertThat(served.body()).isEqualTo(random(9, 100));
        assertThat(served.headers().firstValue("connection")).contains("close");
        assertThat(call("drain", JsonObject.of("undo", true)).getBoolean("draining")).isFalse();
        assertThat(ready().statusCode()).isEqualTo(200);
        assertThat(trainer.get("/b/other").headers().firstValue("connection")).isEmpty();
    }

    @Test
    void aDrainWaitsForWhatIsUnderWay() throws Exception {
        putFive();
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        store.fault((exchange, object) -> {
            asked.countDown();
            awaitQuietly(goOn);
            return false;
        });
        var reading = trainer.sendAsync("GET", "/b/other", new byte[0]);
        assertThat(asked.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(call("drain", JsonObject.of("wait_seconds", 1)).getString("state"))
                .isEqualTo("busy");
        goOn.countDown();
        assertThat(call("drain", JsonObject.of("wait_seconds", 20)).getString("state"))
                .isEqualTo("done");
        assertThat(reading.join().body()).isEqualTo(random(9, 100));
    }

    private HttpResponse<String> ready() {
        return HttpClient.newHttpClient()
                .sendAsync(HttpRequest.newBuilder(gateway.health().resolve("/readyz")).build(),
                        HttpResponse.BodyHandlers.ofString())
                .join();
    }

    @Test
    void logLevelsChangeForGoodOrForAWhile() {
        String name = "io.railhead.gateway.AdminIT";
        Logger logger = (Logger) LoggerFactory.getLogger(name);
        JsonObject set = call("log-level", JsonObject.of("logger", name, "level", "DEBUG"));
        assertThat(logger.getLevel()).isEqualTo(Level.DEBUG);
        assertThat(set.getJsonArray("loggers"))
                .contains(JsonObject.of("logger", name, "level", "DEBUG"));
        JsonObject limited = call("log-level",
                JsonObject.of("logger", name, "level", "TRACE", "for_seconds", 1));
        assertThat(limited.encode()).contains("\"until\":");
        TestGateway.await(() -> logger.getLevel() == Level.DEBUG);
        assertThat(call("log-level", JsonObject.of("logger", name)).getString("level"))
                .isEqualTo("DEBUG");
        call("log-level", JsonObject.of("logger", name, "level", "INHERIT"));
        assertThat(logger.getLevel()).isNull();
        assertThat(call("log-level", new JsonObject()).encode()).contains("ROOT")
                .doesNotContain(name);
        for (JsonObject wrong : List.of(JsonObject.of("logger", name, "level", "LOUD"),
                JsonObject.of("logger", "ROOT", "level", "INHERIT"),
                JsonObject.of("logger", "a\nb", "level", "INFO"),
                JsonObject.of("level", "INFO"),
                JsonObject.of("logger", name, "level", "INFO", "for_seconds", 0))) {
            refused(post("log-level", wrong), 400);
        }
    }

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
    void aPolicyHoldsForWarmingsToo() throws Exception {
        putFive();
        Path policy = Files.writeString(folder.resolve("policy.json"), """
                {"Version": "2012-10-17", "Statement": [
                  {"Effect": "Allow", "Principal": "operator", "Action": "s3:*",
                   "Resource": ["arn:aws:s3:::b", "arn:aws:s3:::b/*"]},
                  {"Effect": "Deny", "Principal": "*", "Action": "s3:GetObject",
                   "Resource": "arn:aws:s3:::b/set/a 1"}]}
                """);
        try (TestGateway governed = new TestGateway("  policy: " + policy + "\n", """
                cache: {memory: 32MiB}
                backends: {store: {endpoints: [%s]}}
                """.formatted(store.endpoint()), """
                principals:
                  - name: operator
                    keys: [{access_key: ADMIN, secret_key: admin-secret}]
                    admin: true
                """)) {
            TestClient client = new TestClient(governed.admin(), "ADMIN", "admin-secret");
            String warmed = new String(client.send("POST", "/.railhead/admin/warm",
                    of("b", "set/").encode().getBytes(StandardCharsets.UTF_8)).body(),
                    StandardCharsets.UTF_8);
            assertThat(warmed).contains("\"objects\":4", "\"refused\":1");
            assertThat(refused(client.send("POST", "/.railhead/admin/warm",
                    of("other", "").encode().getBytes(StandardCharsets.UTF_8)), 403))
                    .contains("policy does not allow s3:ListBucket");
        }
        assertThat(store.count("GET /b/set/a%201")).isZero();
        assertThat(store.count("GET /other")).isZero();
    }

    @Test
    void withoutPrincipalsThereIsNoAdministrator() {
        try (TestGateway passing = new TestGateway("  authentication: pass_through\n", """
                cache: {memory: 32MiB}
                backends: {store: {endpoints: [%s]}}
                """.formatted(store.endpoint()), "")) {
            TestClient client = new TestClient(passing.admin(), "ADMIN", "admin-secret");
            assertThat(refused(client.send("POST", "/.railhead/admin/pins", "{}".getBytes()), 501))
                    .contains("pass_through the gateway knows no administrators");
        }
    }
}
