package io.railhead.gateway.admin;

import static io.railhead.gateway.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.GatewayWithAdministrator;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is brought into the cache before anybody reads it. */
class WarmingIT extends GatewayWithAdministrator {
    @TempDir
    Path folder;

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
        assertThat(full.getString("reason")).startsWith("of big").endsWith(" more are wanted");
        assertThat(full.getLong("cache_bytes")).isBetween(20L << 20, 64L << 20);
        assertThat(full.getLong("room_bytes")).isBetween(0L, 8L << 20);
        assertThat(gateway.metric("railhead_evicted_pages_total{cause=\"pressure\",}")).isZero();
        // What is pinned may displace the rest, up to the limit.
        assertThat(call("pin", of("b", "big4")).getLong("pinned_bytes")).isZero();
        JsonObject pinned = call("warm", of("b", "big4"));
        assertThat(pinned.getString("state")).isEqualTo("done");
        assertThat(pinned.getLong("objects")).isEqualTo(10);
        // The last page is indexed just after its reader was told.
        TestGateway.await(() -> gateway.metric("railhead_pinned_bytes") == 10 << 20);
        assertThat(gateway.metric("railhead_evicted_pages_total{cause=\"pressure\",}"))
                .isPositive();
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
            TestGateway.await(goOn);
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
            TestGateway.await(goOn);
            return false;
        });
        TestGateway other = TestGateway.over(store.endpoint()).config("""
                cache: {memory: 32MiB, window: 1MiB, run: 256KiB}
                """).principals("""
                principals:
                  - {name: o, keys: [{access_key: ADMIN, secret_key: admin-secret}], admin: true}
                """).start();
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
        try (TestGateway governed = TestGateway.over(store.endpoint()).config("""
                gateway: {policy: %s}
                cache: {memory: 32MiB}
                """.formatted(policy)).principals("""
                principals:
                  - name: operator
                    keys: [{access_key: ADMIN, secret_key: admin-secret}]
                    admin: true
                """).start()) {
            TestClient client = new TestClient(governed.admin(), "ADMIN", "admin-secret");
            String warmed = new String(client.send("POST", "/.railhead/admin/warm",
                    of("b", "set/").encode().getBytes(StandardCharsets.UTF_8)).body(),
                    StandardCharsets.UTF_8);
            assertThat(warmed).contains("\"objects\":4", "\"refused\":1");
            assertThat(refused(client.send("POST", "/.railhead/admin/warm",
                    of("other", "").encode().getBytes(StandardCharsets.UTF_8)), 403))
                    .contains("policy does not allow s3:ListBucket");
            TestClient ordinary = governed.client("ADMIN", "admin-secret");
            assertThat(refused(ordinary.send("POST", warm("bucket=b&key=set/a%201"),
                    new byte[0]), 403)).contains("AccessDenied");
        }
        assertThat(store.count("GET /b/set/a%201")).isZero();
        assertThat(store.count("GET /other")).isZero();
    }

    private static String warm(String query) {
        return "/.railhead/warm?" + query;
    }

    private static JsonObject last(HttpResponse<byte[]> answer) {
        String text = new String(answer.body(), StandardCharsets.UTF_8);
        assertThat(answer.statusCode()).as(text).isEqualTo(200);
        return new JsonObject(text.lines().toList().getLast());
    }

    private JsonObject prefetch(String query) {
        return last(trainer.send("POST", warm(query), new byte[0]));
    }

    @Test
    void anOrdinaryPrincipalWarmsWhatItMayRead() {
        putFive();
        assertThat(prefetch("bucket=b&key=set%2Fa%201")).isEqualTo(
                JsonObject.of("state", "filled", "bytes", RUN + 1000, "reason", ""));
        long before = store.count("GET");
        assertThat(trainer.get("/b/set/a%201").body()).isEqualTo(random(1, RUN + 1000));
        assertThat(store.count("GET")).isEqualTo(before);

        assertThat(prefetch("bucket=b&key=set/a%201").getString("state")).isEqualTo("held");
        assertThat(prefetch("bucket=b&key=none").getString("state")).isEqualTo("refused");
        assertThat(prefetch("bucket=plain&key=a").getString("state")).isEqualTo("not_cached");
        store.deny("TRAINER");
        assertThat(prefetch("bucket=b&key=other").getString("state")).isEqualTo("refused");
    }

    @Test
    void whoWarmsNamesOneObjectByAPost() {
        assertThat(refused(trainer.send("POST", warm("bucket=b"), new byte[0]), 400))
                .contains("InvalidArgument", "key");
        assertThat(refused(trainer.send("POST", warm("bucket=..&key=k"), new byte[0]), 400))
                .contains("InvalidBucketName");
        assertThat(refused(trainer.get(warm("bucket=b&key=k")), 405)).contains("POST");
        TestClient stranger = gateway.client("TRAINER", "wrong");
        refused(stranger.send("POST", warm("bucket=b&key=k"), new byte[0]), 403);
    }

    @Test
    void aPrefetchEvictsNothing() {
        for (int i = 10; i < 50; i++) {
            store.put("/b/big" + i, random(i, 1 << 20));
        }
        int full = 0;
        for (int i = 10; i < 50; i++) {
            full += prefetch("bucket=b&key=big" + i).getString("state").equals("full") ? 1 : 0;
        }
        assertThat(full).isBetween(9, 20);
        assertThat(gateway.metric("railhead_evicted_pages_total{cause=\"pressure\",}")).isZero();
    }

    @Test
    void aPrefetchEndsWithItsCaller() throws Exception {
        putFive();
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        store.fault((exchange, object) -> {
            asked.countDown();
            TestGateway.await(goOn);
            return false;
        });
        try (HttpClient http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .build()) {
            CompletableFuture<?> _ = http.sendAsync(
                    trainer.signed("POST", warm("bucket=b&key=set/a%204"), new byte[0]),
                    HttpResponse.BodyHandlers.ofString());
            assertThat(asked.await(20, TimeUnit.SECONDS)).isTrue();
            http.shutdownNow();
        }
        TestGateway.await(() -> gateway.metric("railhead_requests_in_flight") == 0);
        goOn.countDown();
        assertThat(store.count("GET /b/set/")).isEqualTo(1);
    }
}
