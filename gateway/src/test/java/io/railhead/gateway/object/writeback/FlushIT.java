package io.railhead.gateway.object.writeback;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.os.RequiresDirectFiles;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The call by which a writer waits for the store to have what was acknowledged at the disk. */
@RequiresDirectFiles
class FlushIT {
    private static final byte[] BYTES = "a part of a checkpoint".getBytes(StandardCharsets.UTF_8);
    private static final byte[] BOTH = ("<Delete><Quiet>true</Quiet><Object><Key>a</Key></Object>"
            + "<Object><Key>b</Key></Object></Delete>").getBytes(StandardCharsets.UTF_8);
    private static final String THROUGH = "x-railhead-flush-through";
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
            """;

    @TempDir
    private Path disk;
    private final FakeStore store = new FakeStore();
    private final CountDownLatch held = new CountDownLatch(1);
    private volatile int status;
    private volatile String deletion = "";
    private volatile CountDownLatch deleting = new CountDownLatch(0);
    private final TestGateway gateway = TestGateway.over(store)
            .principals(PRINCIPALS)
            .file("policy.json", POLICY);
    private final TestClient trainer = gateway.client();
    private final TestClient other = gateway.client("OTHER", "other-secret");
    private final TestClient admin = new TestClient(gateway::admin, "ADMIN", "admin-secret");

    private String config(String wait) {
        return """
                gateway:
                  sole: true
                  allow_cleartext: true
                  policy: policy.json
                write_back:
                  path: %s
                  size: 64MiB
                  wait: %s
                rules:
                  - bucket: ckpt
                    acknowledge: disk
                    copies: 1
                """.formatted(disk.resolve("log"), wait);
    }

    @BeforeEach
    void start() {
        store.put("/ckpt", "<VersioningConfiguration/>".getBytes(StandardCharsets.UTF_8));
        store.fault((exchange, body) -> {
            if (Set.of("DELETE", "POST").contains(exchange.getRequestMethod())) {
                TestGateway.await(deleting);
            }
            if (exchange.getRequestMethod().equals("POST")) {
                FakeStore.answerQuietly(exchange, 200, deletion);
                return true;
            }
            if (!exchange.getRequestMethod().equals("PUT")) {
                return false;
            }
            TestGateway.await(held);
            int refusal = status;
            if (refusal != 0) {
                FakeStore.answerQuietly(exchange, refusal);
            }
            return refusal != 0;
        });
        gateway.config(config("300ms")).start();
    }

    @AfterEach
    void stop() {
        held.countDown();
        deleting.countDown();
        gateway.close();
    }

    private static HttpResponse<byte[]> flush(TestClient writer, String query) {
        return writer.send("POST", "/.railhead/flush?" + query, new byte[0]);
    }

    private void keep(String path) {
        assertThat(trainer.put(path, BYTES).headers().firstValue("x-railhead-acknowledged"))
                .hasValue("disk");
    }

    private static String text(HttpResponse<byte[]> answer) {
        return new String(answer.body(), StandardCharsets.UTF_8);
    }

    @Test
    void nothingPendingIsFlushedAtOnce() {
        assertThat(flush(trainer, "bucket=ckpt").statusCode()).isEqualTo(200);
        assertThat(flush(trainer, "bucket=another").statusCode()).isEqualTo(200);
    }

    @Test
    void itAnswersOnceTheStoreHasTheWritersObjects() {
        gateway.restart(config("60s"));
        keep("/ckpt/a");
        keep("/ckpt/b");
        CompletableFuture<HttpResponse<byte[]>> flushed = trainer.sendAsync("POST",
                "/.railhead/flush?bucket=ckpt", new byte[0]);
        assertThat(store.object("/ckpt/a")).isNull();
        assertThat(flushed).isNotDone();
        held.countDown();
        assertThat(flushed.join().statusCode()).isEqualTo(200);
        assertThat(store.object("/ckpt/a")).isEqualTo(BYTES);
        assertThat(store.object("/ckpt/b")).isEqualTo(BYTES);
    }

    @Test
    void itEndsInTimeAndSaysWhatIsLeft() {
        keep("/ckpt/a");
        keep("/ckpt/b");
        HttpResponse<byte[]> left = flush(trainer, "bucket=ckpt");
        assertThat(left.statusCode()).isEqualTo(503);
        assertThat(text(left)).contains("ServiceUnavailable",
                "principal: 2, with " + 2 * BYTES.length + " bytes.");
        assertThat(left.headers().firstValue(THROUGH)).isPresent();
    }

    @Test
    void anObjectThatIsDiscardedIsNeverCalledStored() throws Exception {
        gateway.restart(config("60s"));
        status = 403;
        held.countDown();
        keep("/ckpt/a");
        TestGateway.await(() -> gateway.metric("railhead_write_back_stuck") == 1);
        CompletableFuture<HttpResponse<byte[]>> waiting = trainer.sendAsync("POST",
                "/.railhead/flush?bucket=ckpt", new byte[0]);
        TestGateway.await(() -> isDiscarded("a"));
        assertThat(waiting.join().statusCode()).isEqualTo(409);
        assertThat(text(waiting.join())).contains("discarded a, so the store does not have it");
        assertThat(flush(trainer, "bucket=ckpt").statusCode()).isEqualTo(409);
        assertThat(flush(trainer, "bucket=ckpt&through=1-1").statusCode()).isEqualTo(409);
        assertThat(flush(trainer, "bucket=ckpt&prefix=b").statusCode()).isEqualTo(200);
        assertThat(flush(other, "bucket=ckpt").statusCode()).isEqualTo(200);
        assertThat(admin("discard", JsonObject.of("bucket", "ckpt", "key", "a", "id", "1-1"))
                .statusCode()).isEqualTo(404);
        assertThat(flush(trainer, "bucket=ckpt").statusCode()).as("still").isEqualTo(409);
        status = 0;
        keep("/ckpt/a");
        assertThat(flush(trainer, "bucket=ckpt").statusCode()).isEqualTo(200);
        assertThat(store.object("/ckpt/a")).isEqualTo(BYTES);
    }

    @Test
    void theKeyOfADiscardedObjectMayBeDeleted() {
        gateway.restart(config("60s"));
        status = 403;
        held.countDown();
        keep("/ckpt/a");
        TestGateway.await(() -> gateway.metric("railhead_write_back_stuck") == 1);
        TestGateway.await(() -> isDiscarded("a"));
        assertThat(flush(trainer, "bucket=ckpt").statusCode()).isEqualTo(409);
        status = 0;
        assertThat(trainer.send("DELETE", "/ckpt/a", new byte[0]).statusCode()).isEqualTo(204);
        assertThat(flush(trainer, "bucket=ckpt").statusCode()).isEqualTo(200);
    }

    /** False while the gateway tries to write it. */
    private boolean isDiscarded(String key) {
        String id = new JsonObject(text(admin("pending", new JsonObject())))
                .getJsonArray("pending")
                .getJsonObject(0)
                .getString("id");
        return admin("discard", JsonObject.of("bucket", "ckpt", "key", key, "id", id))
                .statusCode() == 200;
    }

    private HttpResponse<byte[]> admin(String call, JsonObject body) {
        return admin.send("POST", "/.railhead/admin/" + call,
                body.encode().getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void itWaitsNoLongerThanItIsTold() {
        gateway.restart(config("1h"));
        keep("/ckpt/a");
        assertThat(flush(trainer, "bucket=ckpt&wait=0").statusCode()).isEqualTo(503);
    }

    @Test
    void aWriteThatTheStoreRefusesIsNamedByItsReason() {
        status = 403;
        held.countDown();
        keep("/ckpt/a");
        TestGateway.await(() -> gateway.metric("railhead_write_back_stuck") == 1);
        HttpResponse<byte[]> left = flush(trainer, "bucket=ckpt");
        assertThat(left.statusCode()).isEqualTo(503);
        assertThat(text(left)).contains("principal: 1, ", "the store answered 403.");
    }

    @Test
    void itWaitsForNeitherOthersObjectsNorOtherPrefixes() {
        keep("/ckpt/step-1/a");
        assertThat(flush(other, "bucket=ckpt").statusCode()).isEqualTo(200);
        assertThat(flush(trainer, "bucket=ckpt&prefix=step-2/").statusCode()).isEqualTo(200);
        assertThat(flush(trainer, "bucket=ckpt&prefix=step-1/").statusCode()).isEqualTo(503);
    }

    @Test
    void aWaitThatGoesOnDoesNotWaitForLaterWrites() {
        keep("/ckpt/a");
        String through = flush(trainer, "bucket=ckpt").headers()
                .firstValue(THROUGH)
                .orElseThrow();
        keep("/ckpt/b");
        HttpResponse<byte[]> left = flush(trainer, "bucket=ckpt&through=" + through);
        assertThat(left.statusCode()).isEqualTo(503);
        assertThat(text(left)).contains("principal: 1, ");
        assertThat(left.headers().firstValue(THROUGH)).hasValue(through);
    }

    @Test
    void itIsRememberedThroughARestart() {
        keep("/ckpt/a");
        String through = flush(trainer, "bucket=ckpt").headers()
                .firstValue(THROUGH)
                .orElseThrow();
        gateway.restart(config("300ms"));
        assertThat(flush(trainer, "bucket=ckpt&through=" + through).statusCode()).isEqualTo(503);
        held.countDown();
        TestGateway.await(() -> flush(trainer, "bucket=ckpt&through=" + through)
                .statusCode() == 200);
        assertThat(store.object("/ckpt/a")).isEqualTo(BYTES);
    }

    @Test
    void aGatewayWithoutALogHasNothingToFlush() {
        gateway.restart("gateway: {allow_cleartext: true}\n");
        assertThat(flush(trainer, "bucket=ckpt").statusCode()).isEqualTo(200);
    }

    @Test
    void aWaitOverALogThatIsGoneIsNeverCalledFlushed() {
        keep("/ckpt/a");
        String through = flush(trainer, "bucket=ckpt").headers()
                .firstValue(THROUGH)
                .orElseThrow();
        gateway.restart(config("300ms").replace("/log", "/another"));
        assertThat(flush(trainer, "bucket=ckpt&through=" + through).statusCode()).isEqualTo(409);
        gateway.restart("gateway: {allow_cleartext: true}\n");
        assertThat(flush(trainer, "bucket=ckpt&through=" + through).statusCode()).isEqualTo(409);
    }

    @Test
    void aPrincipalHasAHundredFlushesAndOneThatLeavesGivesItsPlaceBack() {
        gateway.restart(config("60s"));
        keep("/ckpt/a");
        List<CompletableFuture<HttpResponse<byte[]>>> waiting = Stream.generate(() -> trainer
                .sendAsync("POST", "/.railhead/flush?bucket=ckpt", new byte[0]))
                .limit(100)
                .toList();
        TestGateway.await(() -> text(flush(trainer, "bucket=ckpt&wait=0")).contains("SlowDown"));
        HttpResponse<byte[]> refused = flush(trainer, "bucket=ckpt&wait=0");
        assertThat(refused.statusCode()).isEqualTo(503);
        assertThat(text(refused)).contains("100 flushes of this principal wait already");
        assertThat(flush(other, "bucket=ckpt").statusCode()).as("another").isEqualTo(200);
        waiting.getFirst().cancel(true);
        TestGateway.await(() -> text(flush(trainer, "bucket=ckpt&wait=0"))
                .contains("ServiceUnavailable"));
        held.countDown();
        waiting.stream()
                .skip(1)
                .forEach(flushed -> assertThat(flushed.join().statusCode()).isEqualTo(200));
    }

    @Test
    void aDeletionOfSeveralKeysEndsTheDiscardsOfThoseThatAreGone() {
        gateway.restart(config("60s"));
        status = 403;
        held.countDown();
        keep("/ckpt/a");
        TestGateway.await(() -> gateway.metric("railhead_write_back_stuck") == 1);
        TestGateway.await(() -> isDiscarded("a"));
        keep("/ckpt/b");
        TestGateway.await(() -> gateway.metric("railhead_write_back_stuck") == 1);
        TestGateway.await(() -> isDiscarded("b"));
        status = 0;
        deletion = "<DeleteResult><Error><Key>b</Key><Code>AccessDenied</Code></Error>"
                + "</DeleteResult>";
        HttpResponse<byte[]> deleted = deleteBoth();
        assertThat(deleted.statusCode()).isEqualTo(200);
        assertThat(text(deleted)).isEqualTo(deletion);
        assertThat(flush(trainer, "bucket=ckpt&prefix=a").statusCode()).isEqualTo(200);
        assertThat(flush(trainer, "bucket=ckpt&prefix=b").statusCode()).as("it is there still")
                .isEqualTo(409);
        deletion = "<html/>";
        deleteBoth();
        assertThat(flush(trainer, "bucket=ckpt&prefix=b").statusCode()).as("no answer of a store")
                .isEqualTo(409);
        deletion = "<DeleteResult><Deleted><Key>b</Key></Deleted></DeleteResult>";
        deleteBoth();
        assertThat(flush(trainer, "bucket=ckpt&prefix=b").statusCode()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aDeletionDoesNotEndTheDiscardOfAWriteThatCameAfterIt(boolean ofSeveral) {
        gateway.restart(config("60s"));
        status = 403;
        deletion = "<DeleteResult/>";
        held.countDown();
        keep("/ckpt/b");
        TestGateway.await(() -> isDiscarded("b"));
        deleting = new CountDownLatch(1);
        int before = store.requests().size();
        CompletableFuture<HttpResponse<byte[]>> deleted = ofSeveral
                ? trainer.sendAsync("POST", "/ckpt?delete", BOTH)
                : trainer.sendAsync("DELETE", "/ckpt/a", new byte[0]);
        TestGateway.await(() -> !store.requestsAfter(before).isEmpty());
        keep("/ckpt/a");
        TestGateway.await(() -> isDiscarded("a"));
        deleting.countDown();
        assertThat(deleted.join().statusCode()).isBetween(200, 204);
        assertThat(flush(trainer, "bucket=ckpt&prefix=a").statusCode()).isEqualTo(409);
        assertThat(flush(trainer, "bucket=ckpt&prefix=b").statusCode())
                .isEqualTo(ofSeveral ? 200 : 409);
    }

    private HttpResponse<byte[]> deleteBoth() {
        return trainer.send("POST", "/ckpt?delete", BOTH);
    }

    @Test
    void badQuestionsAreRefused() {
        assertThat(flush(trainer, "prefix=a").statusCode()).isEqualTo(400);
        assertThat(flush(trainer, "bucket=").statusCode()).isEqualTo(400);
        assertThat(flush(trainer, "bucket=ckpt&through=a").statusCode()).isEqualTo(400);
        assertThat(flush(trainer, "bucket=ckpt&wait=-1").statusCode()).isEqualTo(400);
        assertThat(trainer.get("/.railhead/flush?bucket=ckpt").statusCode()).isEqualTo(405);
    }
}
