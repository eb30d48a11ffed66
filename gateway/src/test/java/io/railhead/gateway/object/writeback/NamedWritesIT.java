package io.railhead.gateway.object.writeback;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import io.railhead.gateway.FakeStore;
import io.railhead.gateway.RandomBytes;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.os.RequiresDirectFiles;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Stuck writes, which an administrator exports and discards by name. */
@RequiresDirectFiles
class NamedWritesIT {
    private static final byte[] OLD = "what was there before".getBytes(UTF_8);
    private static final byte[] NEW = RandomBytes.random(1, 3_000_000);
    private static final List<byte[]> PARTS = List.of(RandomBytes.random(2, 5 << 20),
            RandomBytes.random(3, 70_000));
    private static final String POLICY = """
            {"Version": "2012-10-17", "Statement": [
              {"Effect": "Allow", "Principal": ["trainer"], "Action": "s3:*",
               "Resource": "arn:aws:s3:::*"}]}
            """;
    private static final String PRINCIPALS = """
            principals:
              - name: trainer
                keys: [{access_key: AK, secret_key: SK}]
                backend_credential: {access_key: STORE, secret_key: store-secret, account: site}
              - name: operator
                keys: [{access_key: ADMIN, secret_key: admin-secret}]
                admin: true
            """;

    @TempDir
    private Path disk;
    private final FakeStore store = new FakeStore();
    private volatile int status;
    private final TestGateway gateway = TestGateway.over(store)
            .principals(PRINCIPALS)
            .file("policy.json", POLICY);
    private final TestClient trainer = gateway.client();
    private final TestClient admin = new TestClient(gateway::admin, "ADMIN", "admin-secret");

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
                  - bucket: ckpt
                    freshness: {exclusive: 1h}
                    authorization: policy
                    acknowledge: disk
                    copies: 1
                """.formatted(disk.resolve("log"));
    }

    @BeforeEach
    void start() {
        store.put("/ckpt", "<VersioningConfiguration/>".getBytes(UTF_8));
        store.fault((exchange, _) -> !exchange.getRequestMethod().equals("GET")
                && !exchange.getRequestMethod().equals("HEAD") && isRefused(exchange));
        gateway.config(config()).start();
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    private boolean isRefused(HttpExchange exchange) {
        int refusal = status;
        if (refusal != 0) {
            FakeStore.answerQuietly(exchange, refusal);
        }
        return refusal != 0;
    }

    private CompletableFuture<HttpResponse<byte[]>> call(TestClient by, String name,
            JsonObject body) {
        return by.sendAsync("POST", "/.railhead/admin/" + name, body.encode().getBytes(UTF_8));
    }

    private HttpResponse<byte[]> call(String name, JsonObject body) {
        return call(admin, name, body).join();
    }

    private static JsonObject json(HttpResponse<byte[]> answer) {
        String text = new String(answer.body(), UTF_8);
        assertThat(answer.statusCode()).as(text).isEqualTo(200);
        return new JsonObject(text);
    }

    private static JsonObject name(String key, String id) {
        return JsonObject.of("bucket", "ckpt", "key", key, "id", id);
    }

    /** Returns the ids of a list of the call {@code pending}, the oldest first. */
    private List<String> ids(String list) {
        JsonArray found = json(call("pending", new JsonObject())).getJsonArray(list);
        return found.stream().map(each -> ((JsonObject) each).getString("id")).toList();
    }

    private void awaitStuck() {
        TestGateway.await(() -> gateway.metric("railhead_write_back_stuck") == 1);
    }

    private void awaitWritten() {
        TestGateway.await(() -> gateway.metric("railhead_write_back_pending") == 0);
    }

    private static byte[] bytes(HttpResponse<byte[]> export) {
        return Arrays.copyOfRange(export.body(), lineLength(export), export.body().length);
    }

    private static JsonObject line(HttpResponse<byte[]> export) {
        assertThat(export.statusCode()).isEqualTo(200);
        return new JsonObject(new String(export.body(), 0, lineLength(export), UTF_8));
    }

    private static int lineLength(HttpResponse<byte[]> export) {
        int end = 0;
        while (export.body()[end] != '\n') {
            end++;
        }
        return end + 1;
    }

    private String begin(String key) {
        HttpResponse<byte[]> begun = trainer.send("POST", "/ckpt/" + key + "?uploads", new byte[0],
                "x-amz-meta-step", "7");
        String xml = new String(begun.body(), UTF_8);
        return xml.substring(xml.indexOf("<UploadId>") + 10, xml.indexOf("</UploadId>"));
    }

    private void sendParts(String key, String id) {
        for (int i = 0; i < PARTS.size(); i++) {
            assertThat(trainer.put("/ckpt/" + key + "?partNumber=" + (i + 1) + "&uploadId=" + id,
                    PARTS.get(i)).statusCode()).isEqualTo(200);
        }
    }

    private HttpResponse<byte[]> complete(String key, String id) {
        StringBuilder list = new StringBuilder("<CompleteMultipartUpload>");
        for (int i = 0; i < PARTS.size(); i++) {
            list.append("<Part><PartNumber>")
                    .append(i + 1)
                    .append("</PartNumber><ETag>")
                    .append(FakeStore.etag(PARTS.get(i)))
                    .append("</ETag></Part>");
        }
        return trainer.send("POST", "/ckpt/" + key + "?uploadId=" + id,
                list.append("</CompleteMultipartUpload>").toString().getBytes(UTF_8));
    }

    private static byte[] whole() {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        PARTS.forEach(all::writeBytes);
        return all.toByteArray();
    }

    @Test
    void aStuckWriteIsExportedWithItsNameAndHeaders() {
        status = 403;
        trainer.put("/ckpt/a%20b", NEW, "Content-Type", "text/plain", "x-amz-meta-step", "7");
        awaitStuck();
        HttpResponse<byte[]> export = call("export", name("a b", ids("pending").getFirst()));
        JsonObject line = line(export);
        assertThat(line.getMap()).containsEntry("backend", "store")
                .containsEntry("bucket", "ckpt")
                .containsEntry("key", "a b")
                .containsEntry("principal", "trainer")
                .containsEntry("etag", FakeStore.etag(NEW))
                .containsEntry("bytes", NEW.length);
        assertThat(line.getJsonObject("headers").getMap())
                .containsEntry("content-type", "text/plain")
                .containsEntry("x-amz-meta-step", "7");
        assertThat(bytes(export)).isEqualTo(NEW);
        assertThat(gateway.metric("railhead_write_back_pending")).as("kept").isEqualTo(1);
    }

    @Test
    void aDiscardedWriteIsGoneForGoodAndUnblocksItsBucket() {
        store.put("/ckpt/a", OLD);
        assertThat(trainer.get("/ckpt/a").body()).isEqualTo(OLD);
        status = 403;
        trainer.put("/ckpt/a", NEW);
        awaitStuck();
        assertThat(trainer.get("/ckpt/a").body()).isEqualTo(NEW);
        assertThat(trainer.put("/ckpt/b", NEW).statusCode()).isEqualTo(503);
        JsonObject lost = json(call("discard", name("a", ids("pending").getFirst())));
        assertThat(lost.getMap()).containsEntry("etag", FakeStore.etag(NEW))
                .containsEntry("principal", "trainer")
                .containsEntry("bytes", NEW.length)
                .containsEntry("store_upload", "");
        status = 0;
        assertThat(trainer.get("/ckpt/a").body()).as("no cached page of it").isEqualTo(OLD);
        assertThat(gateway.metric("railhead_write_back_discarded_total")).isEqualTo(1);
        assertThat(gateway.metric("railhead_write_back_free_bytes"))
                .isEqualTo(gateway.metric("railhead_write_back_capacity_bytes"));
        assertThat(trainer.put("/ckpt/b", NEW).headers().firstValue("x-railhead-acknowledged"))
                .hasValue("disk");
        awaitWritten();
        gateway.restart(config());
        assertThat(ids("pending")).isEmpty();
        assertThat(store.object("/ckpt/a")).isEqualTo(OLD);
        assertThat(store.object("/ckpt/b")).isEqualTo(NEW);
    }

    @Test
    void theWritesBeforeAndBehindADiscardedOneOfTheirKeyStay() {
        status = 503;
        byte[] first = RandomBytes.random(4, 1000);
        byte[] third = RandomBytes.random(5, 1000);
        trainer.put("/ckpt/a", first);
        trainer.put("/ckpt/a", NEW);
        List<String> both = ids("pending");
        assertThat(json(call("discard", name("a", both.get(1)))).getString("etag"))
                .isEqualTo(FakeStore.etag(NEW));
        assertThat(trainer.get("/ckpt/a").body()).as("the newest that is left").isEqualTo(first);
        trainer.put("/ckpt/a", third);
        assertThat(trainer.get("/ckpt/a").body()).isEqualTo(third);
        status = 0;
        awaitWritten();
        assertThat(store.object("/ckpt/a")).isEqualTo(third);
        assertThat(trainer.get("/ckpt/a").body()).isEqualTo(third);
    }

    @Test
    void noOtherWriteThanTheNamedOneIsTouched() {
        status = 403;
        trainer.put("/ckpt/a", NEW);
        awaitStuck();
        String id = ids("pending").getFirst();
        for (String call : List.of("export", "discard")) {
            assertThat(call(call, name("b", id)).statusCode()).as("key").isEqualTo(404);
            assertThat(call(call, name("a", id + "0")).statusCode()).as("id").isEqualTo(404);
            assertThat(call(call, name("a", id).put("bucket", "other")).statusCode())
                    .as("bucket")
                    .isEqualTo(404);
            assertThat(call(call, JsonObject.of("bucket", "ckpt", "key", "a")).statusCode())
                    .isEqualTo(400);
            assertThat(call(new TestClient(gateway::admin, "AK", "SK"), call, name("a", id))
                    .join()
                    .statusCode()).as("no administrator").isEqualTo(403);
        }
        assertThat(ids("pending")).containsExactly(id);
    }

    @Test
    void aFlushSaysThatAWriteWasDiscarded() throws Exception {
        status = 403;
        trainer.put("/ckpt/a", NEW);
        awaitStuck();
        HttpRequest request = admin.signed("POST", "/.railhead/admin/flush",
                "{\"progress\":true}".getBytes(UTF_8));
        try (HttpClient http = HttpClient.newHttpClient();
                BufferedReader lines = new BufferedReader(new InputStreamReader(
                        http.send(request, BodyHandlers.ofInputStream()).body(), UTF_8))) {
            assertThat(new JsonObject(lines.readLine()).getMap())
                    .containsEntry("state", "running")
                    .containsEntry("objects", 1);
            json(call("discard", name("a", ids("pending").getFirst())));
            assertThat(new JsonObject(lines.lines().toList().getLast()).getString("state"))
                    .isEqualTo("discarded");
        }
        assertThat(call("flush", new JsonObject()).statusCode()).isEqualTo(200);
    }

    @Test
    void anOpenUploadIsExportedAndDiscarded() {
        String id = begin("m");
        sendParts("m", id);
        HttpResponse<byte[]> export = call("export", name("m", id));
        assertThat(line(export).getString("etag")).isEmpty();
        assertThat(line(export).getJsonArray("parts").getJsonObject(1).getMap())
                .containsEntry("number", 2)
                .containsEntry("bytes", PARTS.get(1).length)
                .containsEntry("etag", FakeStore.etag(PARTS.get(1)));
        assertThat(bytes(export)).isEqualTo(whole());
        json(call("discard", name("m", id)));
        assertThat(complete("m", id).statusCode()).isEqualTo(404);
        gateway.restart(config());
        assertThat(ids("uploads")).isEmpty();
        assertThat(gateway.metric("railhead_write_back_free_bytes"))
                .isEqualTo(gateway.metric("railhead_write_back_capacity_bytes"));
    }

    @Test
    void aCompletionOfADiscardedObjectIsAnsweredNoMore() {
        status = 403;
        String id = begin("m");
        sendParts("m", id);
        assertThat(complete("m", id).statusCode()).isEqualTo(200);
        awaitStuck();
        String named = ids("pending").getFirst();
        HttpResponse<byte[]> export = call("export", name("m", named));
        assertThat(bytes(export)).isEqualTo(whole());
        assertThat(line(export).getJsonArray("parts")).hasSize(2);
        json(call("discard", name("m", named)));
        assertThat(complete("m", id).statusCode()).isEqualTo(404);
    }
}
