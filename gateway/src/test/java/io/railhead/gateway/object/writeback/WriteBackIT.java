package io.railhead.gateway.object.writeback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.config.ConfigException;
import io.railhead.os.RequiresDirectFiles;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Uploads that are acknowledged at the gateway's disk, and a store that is slow, or refuses. */
@RequiresDirectFiles
class WriteBackIT {
    private static final String LEVEL = "x-railhead-acknowledged";
    private static final byte[] OLD = "what was there before".getBytes(StandardCharsets.UTF_8);
    private static final byte[] NEW = random(1, 3_000_000);
    private static final String POLICY = """
            {"Version": "2012-10-17", "Statement": [
              {"Effect": "Allow", "Principal": ["trainer", "other"], "Action": "s3:*",
               "Resource": "arn:aws:s3:::*"}]}
            """;
    private static final String PRINCIPALS = """
            principals:
              - name: trainer
                keys: [{access_key: AK, secret_key: SK}]
                backend_credential: {access_key: STORE, secret_key: store-secret, account: site}
              - name: other
                keys: [{access_key: OTHER, secret_key: other-secret}]
                backend_credential: {access_key: STORE2, secret_key: store2-secret, account: site}
              - name: operator
                keys: [{access_key: ADMIN, secret_key: admin-secret}]
                admin: true
              - name: own-key
                keys: [{access_key: OWN, secret_key: own-secret}]
            """;

    @TempDir
    private Path disk;
    private final FakeStore store = new FakeStore();
    private volatile CountDownLatch held = new CountDownLatch(0);
    private volatile int status;
    private final TestGateway gateway = TestGateway.over(store)
            .principals(PRINCIPALS)
            .file("policy.json", POLICY);
    private final TestClient trainer = gateway.client();
    private final TestClient other = gateway.client("OTHER", "other-secret");

    private final TestClient admin = new TestClient(gateway::admin, "ADMIN", "admin-secret");

    private CompletableFuture<HttpResponse<byte[]>> call(String name) {
        return admin.sendAsync("POST", "/.railhead/admin/" + name,
                "{}".getBytes(StandardCharsets.UTF_8));
    }

    private static byte[] random(long seed, int length) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    private String config() {
        return """
                gateway:
                  sole: true
                  allow_cleartext: true
                  policy: policy.json
                write_back:
                  path: %s
                  size: 64MiB
                  wait: 300ms
                rules:
                  - bucket: cached
                    freshness: {exclusive: 1h}
                    authorization: policy
                    acknowledge: disk
                    copies: 1
                  - bucket: ckpt
                    acknowledge: disk
                    copies: 1
                """.formatted(disk.resolve("log"));
    }

    @BeforeEach
    void start() {
        for (String bucket : List.of("/ckpt", "/cached")) {
            store.put(bucket, "<VersioningConfiguration/>".getBytes(StandardCharsets.UTF_8));
        }
        store.fault((exchange, body) -> exchange.getRequestMethod().equals("PUT")
                && isRefused(exchange));
        gateway.config(config()).start();
    }

    @AfterEach
    void stop() {
        goOn();
        gateway.close();
    }

    private boolean isRefused(HttpExchange exchange) {
        TestGateway.await(held);
        int refusal = status;
        if (refusal != 0) {
            FakeStore.answerQuietly(exchange, refusal);
        }
        return refusal != 0;
    }

    /** From now on the store keeps no upload before {@link #goOn}. */
    private void hold() {
        held = new CountDownLatch(1);
    }

    private void goOn() {
        status = 0;
        held.countDown();
    }

    private static String level(HttpResponse<?> answer) {
        return answer.headers().firstValue(LEVEL).orElse("none");
    }

    private void awaitWritten() {
        TestGateway.await(() -> gateway.metric("railhead_write_back_pending") == 0);
    }

    @Test
    void anUploadIsAcknowledgedBeforeTheStoreHasIt() {
        hold();
        HttpResponse<byte[]> stored = trainer.put("/ckpt/a", NEW, "Content-Type", "text/plain",
                "x-amz-meta-step", "7");
        assertThat(stored.statusCode()).isEqualTo(200);
        assertThat(level(stored)).isEqualTo("disk");
        assertThat(stored.headers().firstValue("etag")).hasValue(FakeStore.etag(NEW));
        assertThat(store.object("/ckpt/a")).isNull();
        assertThat(gateway.metric("railhead_write_back_pending")).isEqualTo(1);
        assertThat(gateway.metric("railhead_write_back_pending_bytes")).isEqualTo(NEW.length);
        goOn();
        awaitWritten();
        assertThat(store.object("/ckpt/a")).isEqualTo(NEW);
        assertThat(trainer.get("/ckpt/a").body()).isEqualTo(NEW);
        assertThat(gateway.metric("railhead_write_back_acknowledged_total{level=\"disk\",}"))
                .isEqualTo(1);
        assertThat(gateway.metric("railhead_write_back_free_bytes"))
                .isEqualTo(gateway.metric("railhead_write_back_capacity_bytes"));
    }

    @Test
    void itsWriterReadsAPendingObject() {
        hold();
        trainer.put("/ckpt/a", NEW, "Content-Type", "text/plain", "x-amz-meta-step", "7");
        HttpResponse<byte[]> head = trainer.head("/ckpt/a");
        assertThat(head.statusCode()).isEqualTo(200);
        assertThat(head.headers().firstValue("content-length"))
                .hasValue(Integer.toString(NEW.length));
        assertThat(head.headers().firstValue("x-amz-meta-step")).hasValue("7");
        HttpResponse<byte[]> read = trainer.get("/ckpt/a");
        assertThat(read.headers().firstValue("content-type")).hasValue("text/plain");
        assertThat(read.body()).isEqualTo(NEW);
        HttpResponse<byte[]> part = trainer.get("/ckpt/a", "Range", "bytes=600000-1200000");
        assertThat(part.statusCode()).isEqualTo(206);
        assertThat(part.body()).isEqualTo(Arrays.copyOfRange(NEW, 600_000, 1_200_001));
        assertThat(trainer.get("/ckpt/a", "If-None-Match", FakeStore.etag(NEW)).statusCode())
                .isEqualTo(304);
        assertThat(trainer.get("/ckpt/a", "If-Match", "\"other\"").statusCode()).isEqualTo(412);
    }

    @Test
    void everythingElseWaitsForThePendingWriteAndEndsBy503() {
        hold();
        trainer.put("/ckpt/a", NEW);
        assertThat(other.get("/ckpt/a").statusCode()).isEqualTo(503);
        assertThat(other.head("/ckpt/a").statusCode()).isEqualTo(503);
        assertThat(trainer.get("/ckpt?list-type=2").statusCode()).isEqualTo(503);
        assertThat(trainer.get("/ckpt/a?tagging").statusCode()).isEqualTo(503);
        assertThat(trainer.delete("/ckpt/b").statusCode()).isEqualTo(503);
        assertThat(trainer.put("/ckpt/copy", new byte[0], "x-amz-copy-source", "/ckpt/a")
                .statusCode()).isEqualTo(503);
        assertThat(trainer.put("/free/copy", new byte[0], "x-amz-copy-source", "/ckpt/a")
                .statusCode()).as("a copy out of the bucket").isEqualTo(503);
        assertThat(gateway.metric("railhead_write_back_waits_ended_total"))
                .isGreaterThanOrEqualTo(7);
        assertThat(store.requests()).noneMatch(request -> request.startsWith("DELETE"));
        goOn();
        awaitWritten();
        assertThat(other.get("/ckpt/a").body()).isEqualTo(NEW);
        assertThat(trainer.delete("/ckpt/a").statusCode()).isEqualTo(204);
        assertThat(trainer.get("/ckpt/a").statusCode()).isEqualTo(404);
    }

    @Test
    void aRequestThatWaitsIsServedOnceTheStoreHasTheObject() {
        hold();
        trainer.put("/cached/a", NEW);
        CompletableFuture<HttpResponse<byte[]>> reading = other.sendAsync("GET", "/cached/a",
                new byte[0]);
        goOn();
        HttpResponse<byte[]> read = reading.join();
        assertThat(read.statusCode()).isIn(200, 503);
        awaitWritten();
        assertThat(other.get("/cached/a").body()).isEqualTo(NEW);
    }

    @Test
    void aCopyWaitsForItsSourceThatIsPendingInAnotherBucket() {
        gateway.restart(config().replace("300ms", "60s"));
        hold();
        assertThat(level(trainer.put("/cached/before", OLD))).isEqualTo("disk");
        assertThat(level(trainer.put("/cached/a", NEW))).isEqualTo("disk");
        CompletableFuture<HttpResponse<byte[]>> copy = trainer.sendAsync("PUT", "/ckpt/copy",
                new byte[0], "x-amz-copy-source", "/cached/a");
        assertThat(trainer.put("/ckpt/later", OLD).statusCode()).as("another bucket's write")
                .isEqualTo(200);
        assertThat(copy).isNotDone();
        goOn();
        assertThat(copy.join().statusCode()).isEqualTo(200);
        assertThat(store.object("/ckpt/copy")).isEqualTo(NEW);
    }

    @Test
    void aCopyFailsIfItsSourceInAnotherBucketIsDiscarded() {
        gateway.restart(config().replace("300ms", "60s"));
        store.put("/cached/a", OLD);
        status = 403;
        assertThat(level(trainer.put("/cached/a", NEW))).isEqualTo("disk");
        TestGateway.await(() -> gateway.metric("railhead_write_back_stuck") == 1);
        CompletableFuture<HttpResponse<byte[]>> copy = trainer.sendAsync("PUT", "/ckpt/copy",
                new byte[0], "x-amz-copy-source", "/cached/a");
        String id = new JsonObject(new String(call("pending").join().body(),
                StandardCharsets.UTF_8)).getJsonArray("pending").getJsonObject(0).getString("id");
        assertThat(copy).isNotDone();
        TestGateway.await(() -> admin.send("POST", "/.railhead/admin/discard",
                JsonObject.of("bucket", "cached", "key", "a", "id", id)
                        .encode()
                        .getBytes(StandardCharsets.UTF_8))
                .statusCode() == 200);
        status = 0;
        int answered = copy.join().statusCode();
        // A copy that came after the discard copies what the store has.
        assertThat(answered == 503 || Arrays.equals(store.object("/ckpt/copy"), OLD)).isTrue();
        assertThat(store.object("/ckpt/copy")).isIn(null, OLD);
    }

    @Test
    void noModeServesAnOlderVersionWhileANewerOneIsPending() {
        store.put("/cached/a", OLD);
        assertThat(trainer.get("/cached/a").body()).isEqualTo(OLD);
        assertThat(other.get("/cached/a").body()).isEqualTo(OLD);
        assertThat(TestClient.cached(other.get("/cached/a"))).isEqualTo("HIT");
        hold();
        assertThat(level(trainer.put("/cached/a", NEW))).isEqualTo("disk");
        assertThat(trainer.get("/cached/a").body()).isEqualTo(NEW);
        assertThat(other.get("/cached/a").statusCode()).isEqualTo(503);
        assertThat(trainer.get("/cached/a").body()).isEqualTo(NEW);
        goOn();
        awaitWritten();
        assertThat(other.get("/cached/a").body()).isEqualTo(NEW);
        assertThat(other.get("/cached/a").body()).isEqualTo(NEW);
    }

    @Test
    void writesReachTheStoreInTheirOrderAndEachIsTriedAgain() {
        status = 503;
        hold();
        List<String> keys = IntStream.range(0, 10).mapToObj(i -> "/ckpt/" + (9 - i)).toList();
        keys.forEach(key -> assertThat(level(trainer.put(key, key.getBytes(
                StandardCharsets.UTF_8)))).isEqualTo("disk"));
        trainer.put("/ckpt/5", NEW);
        held.countDown();
        TestGateway.await(() -> gateway.metric("railhead_write_back_failed_tries_total") >= 1);
        assertThat(gateway.metric("railhead_write_back_stuck")).isZero();
        int before = store.requests().size();
        status = 0;
        awaitWritten();
        assertThat(store.requestsAfter(before)
                .stream()
                .filter(request -> request.startsWith("PUT"))
                .map(request -> request.split(" ", -1)[1])
                .distinct()).containsExactlyElementsOf(keys);
        assertThat(store.object("/ckpt/5")).isEqualTo(NEW);
    }

    @Test
    void aRefusedWriteIsKeptAndServedAndTheBucketGoesBackToTheStore() {
        status = 403;
        assertThat(level(trainer.put("/ckpt/a", NEW))).isEqualTo("disk");
        TestGateway.await(() -> gateway.metric("railhead_write_back_stuck") == 1);
        assertThat(trainer.get("/ckpt/a").body()).isEqualTo(NEW);
        assertThat(trainer.put("/ckpt/b", NEW).statusCode()).isEqualTo(503);
        assertThat(level(trainer.put("/cached/b", OLD))).as("another bucket").isEqualTo("disk");
        status = 0;
        awaitWritten();
        assertThat(store.object("/ckpt/a")).isEqualTo(NEW);
        assertThat(gateway.metric("railhead_write_back_stuck")).isZero();
    }

    @Test
    void aRestartServesAndWritesWhatIsPendingThoughTheStoreWasDown() {
        status = 503;
        assertThat(level(trainer.put("/ckpt/a", NEW))).isEqualTo("disk");
        assertThat(level(trainer.put("/ckpt/b", OLD))).isEqualTo("disk");
        gateway.restart(config());
        assertThat(trainer.get("/ckpt/a").body()).isEqualTo(NEW);
        assertThat(other.get("/ckpt/b").statusCode()).isEqualTo(503);
        status = 0;
        awaitWritten();
        assertThat(store.object("/ckpt/a")).isEqualTo(NEW);
        assertThat(other.get("/ckpt/b").body()).isEqualTo(OLD);
        gateway.restart(config());
        assertThat(gateway.metric("railhead_write_back_pending")).isZero();
    }

    @Test
    void whatTheStoreMustJudgeIsAcknowledgedByTheStore() {
        List<String[]> judged = List.of(new String[]{"If-None-Match", "*"},
                new String[]{"x-amz-server-side-encryption", "aws:kms"},
                new String[]{"x-amz-object-lock-legal-hold", "ON"},
                new String[]{"x-amz-tagging", "a=b"}, new String[]{"x-amz-acl", "private"},
                new String[]{"x-amz-storage-class", "STANDARD_IA"},
                new String[]{"x-amz-checksum-crc32", "AAAA"},
                new String[]{"x-amz-checksum-foo", "x"});
        for (String[] header : judged) {
            HttpResponse<byte[]> stored = trainer.put("/ckpt/judged", OLD, header);
            assertThat(level(stored)).as(header[0]).isEqualTo("store");
            assertThat(store.object("/ckpt/judged")).isEqualTo(OLD);
        }
        assertThat(level(trainer.put("/free/a", OLD))).as("another rule").isEqualTo("none");
    }

    @Test
    void aBucketThatIsVersionedOrUnknownIsAcknowledgedByTheStore() {
        store.put("/ckpt", "<VersioningConfiguration><Status>Suspended</Status>"
                .getBytes(StandardCharsets.UTF_8));
        assertThat(level(trainer.put("/ckpt/a", OLD))).isEqualTo("store");
        store.put("/cached", "<Something/>".getBytes(StandardCharsets.UTF_8));
        assertThat(level(trainer.put("/cached/a", OLD))).isEqualTo("store");
    }

    @Test
    void aKeyThatIsTooLongInBytesIsLeftToTheStore() {
        assertThat(level(trainer.put("/ckpt/" + "%E2%82%AC".repeat(400), OLD)))
                .isNotEqualTo("disk");
    }

    @Test
    void aChangeOfTheBucketsSettingsIsAskedForAnew() {
        assertThat(level(trainer.put("/ckpt/a", OLD))).isEqualTo("disk");
        store.put("/ckpt", "<VersioningConfiguration><Status>Enabled</Status>"
                .getBytes(StandardCharsets.UTF_8));
        assertThat(level(trainer.put("/ckpt/b", OLD))).as("known of before").isEqualTo("disk");
        assertThat(trainer.put("/ckpt?versioning", "<VersioningConfiguration/>"
                .getBytes(StandardCharsets.UTF_8)).statusCode()).isEqualTo(200);
        assertThat(level(trainer.put("/ckpt/c", OLD))).isEqualTo("store");
    }

    @Test
    void theCureOfAStuckWriteDoesNotWaitForIt() {
        status = 403;
        assertThat(level(trainer.put("/ckpt/a", NEW))).isEqualTo("disk");
        TestGateway.await(() -> gateway.metric("railhead_write_back_stuck") == 1);
        assertThat(trainer.put("/ckpt?policy", OLD).statusCode()).as("the store's answer")
                .isEqualTo(403);
        assertThat(trainer.put("/ckpt", new byte[0]).statusCode()).isEqualTo(403);
        assertThat(trainer.delete("/ckpt?policy").statusCode()).isEqualTo(204);
        assertThat(trainer.delete("/ckpt/other").statusCode()).isEqualTo(204);
        assertThat(trainer.delete("/ckpt/a").statusCode()).as("the stuck key").isEqualTo(503);
        assertThat(trainer.delete("/ckpt").statusCode()).isEqualTo(503);
    }

    @Test
    void aReloadKeepsTheStoresOfPendingWrites() throws Exception {
        hold();
        trainer.put("/ckpt/a", NEW);
        String elsewhere = config() + "backends: {store: {endpoints: ['http://127.0.0.1:9']}}\n";
        assertThatThrownBy(() -> gateway.reconfigure(elsewhere))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("has no endpoint of before");
        String gone = config() + "backends: {other: {}}\n";
        assertThatThrownBy(() -> gateway.reconfigure(gone))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("is gone");
        gateway.reconfigure(config());
        goOn();
        awaitWritten();
        gateway.reconfigure(elsewhere);
    }

    @Test
    void aWriterWithoutACredentialOfItsOwnIsAcknowledgedByTheStore() {
        gateway.file("policy.json", POLICY.replace("\"other\"", "\"own-key\""));
        gateway.restart(config());
        TestClient own = gateway.client("OWN", "own-secret");
        assertThat(level(own.put("/ckpt/a", OLD))).isEqualTo("store");
        assertThat(other.put("/ckpt/b", OLD).statusCode()).as("without a grant").isEqualTo(403);
    }

    @Test
    void aFullLogLetsUploadsThroughToTheStore() {
        byte[] most = new byte[40 << 20];
        status = 503;
        assertThat(level(trainer.put("/cached/most", most))).isEqualTo("disk");
        status = 0;
        hold();
        CompletableFuture<HttpResponse<byte[]>> through = trainer.sendAsync("PUT", "/ckpt/through",
                most);
        goOn();
        assertThat(level(through.join())).isIn("store", "disk");
        awaitWritten();
        assertThat(store.object("/ckpt/through")).isEqualTo(most);
        assertThat(store.object("/cached/most")).isEqualTo(most);
    }

    @Test
    void aTenantThatHoldsItsQuotaIsWrittenThroughAndOthersAreNot() {
        String quota = config().replace("  size: 64MiB", "  size: 64MiB\n  tenant_quota: 20%");
        byte[] most = new byte[10 << 20];
        store.fault((exchange, _) -> {
            boolean isHeld = exchange.getRequestMethod().equals("PUT")
                    && exchange.getRequestURI().getPath().startsWith("/cached/") && status != 0;
            if (isHeld) {
                FakeStore.answerQuietly(exchange, status);
            }
            return isHeld;
        });
        status = 403;
        gateway.restart(quota);
        assertThat(level(trainer.put("/cached/a", most))).isEqualTo("disk");
        assertThat(level(trainer.put("/ckpt/b", most))).isEqualTo("store");
        assertThat(gateway.metric("railhead_write_back_over_quota_total")).isEqualTo(1);
        assertThat(level(other.put("/ckpt/c", most))).as("another").isEqualTo("disk");
        // Later requests of the bucket wait for that one, and not for long.
        TestGateway.await(() -> gateway.metric("railhead_write_back_pending") == 1);
        HttpResponse<byte[]> begun = trainer.send("POST", "/ckpt/m?uploads", new byte[0]);
        assertThat(new String(begun.body(), StandardCharsets.UTF_8))
                .doesNotContain("railhead-disk-");
        gateway.restart(quota);
        assertThat(level(trainer.put("/ckpt/d", most))).as("after a restart").isEqualTo("store");
        status = 0;
        awaitWritten();
        assertThat(store.object("/cached/a")).isEqualTo(most);
        assertThat(level(trainer.put("/ckpt/e", most))).isEqualTo("disk");
        awaitWritten();
        begun = trainer.send("POST", "/ckpt/m?uploads", new byte[0]);
        assertThat(new String(begun.body(), StandardCharsets.UTF_8)).contains("railhead-disk-");
    }

    @Test
    void aBodyWithAnotherChecksumIsNeitherAcknowledgedNorKept() {
        HttpResponse<byte[]> refused = trainer.put("/ckpt/a", NEW, "Content-MD5",
                "1B2M2Y8AsgTpgAmY7PhCfg==");
        assertThat(refused.statusCode()).isEqualTo(400);
        assertThat(gateway.metric("railhead_write_back_pending")).isZero();
        assertThat(gateway.metric("railhead_write_back_free_bytes"))
                .isEqualTo(gateway.metric("railhead_write_back_capacity_bytes"));
        assertThat(store.object("/ckpt/a")).isNull();
    }

    @Test
    void anEmptyObjectIsWrittenToo() {
        HttpResponse<byte[]> stored = trainer.put("/ckpt/empty", new byte[0]);
        assertThat(level(stored)).isEqualTo("disk");
        awaitWritten();
        assertThat(store.object("/ckpt/empty")).isEmpty();
    }

    @Test
    void anAdministratorSeesWhatIsPendingAndWaitsForIt() {
        hold();
        trainer.put("/ckpt/a", NEW);
        trainer.put("/cached/b", OLD);
        JsonObject pending = new JsonObject(
                new String(call("pending").join().body(), StandardCharsets.UTF_8));
        assertThat(pending.getInteger("objects")).isEqualTo(2);
        assertThat(pending.getJsonArray("pending").getJsonObject(0).getMap())
                .containsEntry("bucket", "ckpt")
                .containsEntry("key", "a")
                .containsEntry("principal", "trainer")
                .containsEntry("bytes", NEW.length);
        CompletableFuture<HttpResponse<byte[]>> flushed = call("flush");
        assertThat(call("pending").join().statusCode()).isEqualTo(200);
        assertThat(flushed).as("before the store has it").isNotDone();
        goOn();
        assertThat(flushed.join().statusCode()).isEqualTo(200);
        assertThat(store.object("/ckpt/a")).isEqualTo(NEW);
        assertThat(store.object("/cached/b")).isEqualTo(OLD);
        assertThat(call("retry").join().statusCode()).isEqualTo(200);
    }
}
