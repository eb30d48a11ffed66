package io.railhead.gateway.object.writeback;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import io.railhead.gateway.FakeStore;
import io.railhead.gateway.RandomBytes;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.s3.body.BodyReader;
import io.railhead.os.RequiresDirectFiles;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Multipart uploads that are acknowledged at the gateway's disk. */
@RequiresDirectFiles
class MultipartWriteBackIT {
    private static final String LEVEL = "x-railhead-acknowledged";
    private static final int PART = 5 << 20;
    private static final List<byte[]> PARTS = List.of(RandomBytes.random(1, PART),
            RandomBytes.random(2, PART + 1), RandomBytes.random(3, 70_000));
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
    private volatile CountDownLatch held = new CountDownLatch(0);
    private volatile int status;
    private final TestGateway gateway = TestGateway.over(store)
            .principals(PRINCIPALS)
            .file("policy.json", POLICY);
    private final TestClient trainer = gateway.client();
    private final TestClient other = gateway.client("OTHER", "other-secret");
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
                    acknowledge: disk
                    copies: 1
                """.formatted(disk.resolve("log"));
    }

    @BeforeEach
    void start() {
        store.put("/ckpt", "<VersioningConfiguration/>".getBytes(UTF_8));
        store.fault((exchange, _) -> !exchange.getRequestMethod().equals("GET")
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

    private static String text(HttpResponse<byte[]> answer) {
        return new String(answer.body(), UTF_8);
    }

    private void awaitWritten() {
        TestGateway.await(() -> gateway.metric("railhead_write_back_pending") == 0);
    }

    private void requireEmpty() {
        TestGateway.await(() -> gateway.metric("railhead_write_back_free_bytes") == gateway
                .metric("railhead_write_back_capacity_bytes"));
    }

    private static String element(HttpResponse<byte[]> answer, String name) {
        String xml = text(answer);
        assertThat(xml).contains("<" + name + ">");
        return xml.substring(xml.indexOf("<" + name + ">") + name.length() + 2,
                xml.indexOf("</" + name + ">"));
    }

    private static String etag(HttpResponse<?> part) {
        assertThat(part.statusCode()).isEqualTo(200);
        return part.headers().firstValue("etag").orElseThrow();
    }

    private String begin(String path, String... headers) {
        HttpResponse<byte[]> begun = trainer.send("POST", path + "?uploads", new byte[0], headers);
        assertThat(begun.statusCode()).as(text(begun)).isEqualTo(200);
        return element(begun, "UploadId");
    }

    private static String part(String path, String id, int number) {
        return path + "?partNumber=" + number + "&uploadId=" + id;
    }

    /** Sends all parts at once. */
    private List<String> send(String path, String id) {
        List<CompletableFuture<HttpResponse<byte[]>>> sent = new ArrayList<>();
        for (int i = 0; i < PARTS.size(); i++) {
            sent.add(trainer.sendAsync("PUT", part(path, id, i + 1), PARTS.get(i)));
        }
        return sent.stream().map(answer -> etag(answer.join())).toList();
    }

    private static String listed(int number, String etag) {
        return "<Part><PartNumber>" + number + "</PartNumber><ETag>" + etag + "</ETag></Part>";
    }

    private HttpResponse<byte[]> complete(String path, String id, String parts,
            String... headers) {
        return trainer.send("POST", path + "?uploadId=" + id,
                ("<CompleteMultipartUpload>" + parts + "</CompleteMultipartUpload>")
                        .getBytes(UTF_8),
                headers);
    }

    private HttpResponse<byte[]> complete(String path, String id, List<String> etags) {
        return complete(path, id, String.join("", IntStream.range(0, etags.size())
                .mapToObj(i -> listed(i + 1, etags.get(i)))
                .toList()));
    }

    private static byte[] whole() {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        PARTS.forEach(all::writeBytes);
        return all.toByteArray();
    }

    private static String wholeEtag(List<String> etags) {
        return Completion.etag(etags);
    }

    /** Uploads an object, and returns the answer to its completion. */
    private HttpResponse<byte[]> upload(String path) {
        String id = begin(path, "Content-Type", "text/plain", "x-amz-meta-step", "7");
        return complete(path, id, send(path, id));
    }

    @Test
    void partsAreAcknowledgedBeforeTheStoreHasThemAndReadByTheirWriter() {
        hold();
        HttpResponse<byte[]> stored = upload("/ckpt/a");
        assertThat(stored.statusCode()).as(text(stored)).isEqualTo(200);
        assertThat(level(stored)).isEqualTo("disk");
        String etag = wholeEtag(PARTS.stream().map(FakeStore::etag).toList());
        assertThat(element(stored, "ETag")).isEqualTo(etag.replace("\"", "&quot;"));
        assertThat(store.object("/ckpt/a")).isNull();
        assertThat(gateway.metric("railhead_write_back_pending")).isEqualTo(1);
        HttpResponse<byte[]> head = trainer.head("/ckpt/a");
        assertThat(head.headers().firstValue("etag")).hasValue(etag);
        assertThat(head.headers().firstValue("x-amz-meta-step")).hasValue("7");
        assertThat(trainer.get("/ckpt/a").body()).isEqualTo(whole());
        HttpResponse<byte[]> range = trainer.get("/ckpt/a", "Range",
                "bytes=" + (PART - 1000) + "-" + (2 * PART + 1000));
        assertThat(range.body())
                .isEqualTo(Arrays.copyOfRange(whole(), PART - 1000, 2 * PART + 1001));
        assertThat(other.get("/ckpt/a").statusCode()).isEqualTo(503);
        goOn();
        awaitWritten();
        assertThat(store.object("/ckpt/a")).isEqualTo(whole());
        assertThat(store.uploads().open()).isZero();
        requireEmpty();
    }

    /** A client that names no algorithm at the beginning repeats what parts' answers named. */
    @Test
    void checksumsThatOnlyPartsHaveAreTaken() {
        String id = begin("/ckpt/a");
        byte[] bytes = PARTS.getLast();
        String sum = BodyReader.sum("x-amz-checksum-crc32", bytes);
        String etag = etag(
                trainer.put(part("/ckpt/a", id, 1), bytes, "x-amz-checksum-crc32", sum));
        HttpResponse<byte[]> completed = complete("/ckpt/a", id, "<Part><PartNumber>1</PartNumber>"
                + "<ETag>" + etag + "</ETag><ChecksumCRC32>" + sum + "</ChecksumCRC32></Part>");
        assertThat(completed.statusCode()).as(text(completed)).isEqualTo(200);
        assertThat(level(completed)).isEqualTo("disk");
        awaitWritten();
        assertThat(store.object("/ckpt/a")).isEqualTo(bytes);
    }

    /** A proxy's answer, or one that was cut. */
    @Test
    void anAnswerThatNamesNoObjectIsNoCompletion() {
        AtomicInteger completions = new AtomicInteger();
        store.fault((exchange, _) -> {
            boolean completes = exchange.getRequestMethod().equals("POST")
                    && exchange.getRequestURI().getQuery().startsWith("uploadId=");
            if (completes) {
                completions.incrementAndGet();
                FakeStore.answerQuietly(exchange, 200);
            }
            return completes;
        });
        assertThat(level(upload("/ckpt/a"))).isEqualTo("disk");
        TestGateway.await(() -> completions.get() > 0);
        for (int i = 0; i < 50; i++) {
            assertThat(trainer.head("/ckpt/a").headers().firstValue("x-amz-meta-step"))
                    .hasValue("7");
        }
        assertThat(gateway.metric("railhead_write_back_pending")).isEqualTo(1);
        assertThat(store.object("/ckpt/a")).isNull();
    }

    @Test
    void aRestartKeepsTheAnsweredPartsOfAnOpenUpload() {
        String id = begin("/ckpt/a");
        List<String> etags = send("/ckpt/a", id);
        gateway.restart(config());
        assertThat(gateway.metric("railhead_write_back_uploads")).isEqualTo(1);
        HttpResponse<byte[]> stored = complete("/ckpt/a", id, etags);
        assertThat(level(stored)).as(text(stored)).isEqualTo("disk");
        awaitWritten();
        assertThat(store.object("/ckpt/a")).isEqualTo(whole());
        requireEmpty();
    }

    @Test
    void aStoreThatIsDownAndARestartLoseNothingAndLeaveNoUploadBehind() {
        hold();
        assertThat(level(upload("/ckpt/a"))).isEqualTo("disk");
        goOn();
        status = 503;
        TestGateway.await(() -> gateway.metric("railhead_write_back_failed_tries_total") >= 1);
        gateway.restart(config());
        assertThat(trainer.get("/ckpt/a").body()).isEqualTo(whole());
        goOn();
        awaitWritten();
        assertThat(store.object("/ckpt/a")).isEqualTo(whole());
        assertThat(store.uploads().open()).isZero();
    }

    @Test
    void aRestartGoesOnWithTheStoresUpload() {
        store.fault((exchange, _) -> exchange.getRequestMethod().equals("PUT")
                && String.valueOf(exchange.getRequestURI().getQuery()).contains("partNumber=2")
                && isRefused(exchange));
        status = 503;
        assertThat(level(upload("/ckpt/a"))).isEqualTo("disk");
        TestGateway.await(() -> gateway.metric("railhead_write_back_failed_tries_total") >= 1);
        gateway.restart(config());
        status = 0;
        awaitWritten();
        assertThat(store.object("/ckpt/a")).isEqualTo(whole());
        assertThat(store.queries("/ckpt/a").stream().filter("uploads"::equals)).hasSize(1);
        assertThat(store.uploads().open()).isZero();
    }

    @Test
    void aPartThatTheStoreRefusesForAMomentEndsNoTry() {
        AtomicInteger refusals = new AtomicInteger(3);
        store.fault((exchange, _) -> {
            boolean isRefused = exchange.getRequestMethod().equals("PUT")
                    && refusals.getAndDecrement() > 0;
            if (isRefused) {
                FakeStore.answerQuietly(exchange, 503);
            }
            return isRefused;
        });
        assertThat(level(upload("/ckpt/a"))).isEqualTo("disk");
        awaitWritten();
        assertThat(store.object("/ckpt/a")).isEqualTo(whole());
        assertThat(gateway.metric("railhead_write_back_failed_tries_total")).isZero();
    }

    @Test
    void anUploadThatTheStoreHasForgottenIsSentAgain() {
        store.fault((exchange, _) -> exchange.getRequestMethod().equals("POST")
                && String.valueOf(exchange.getRequestURI().getQuery()).startsWith("uploadId")
                && isRefused(exchange));
        status = 503;
        assertThat(level(upload("/ckpt/a"))).isEqualTo("disk");
        TestGateway.await(() -> gateway.metric("railhead_write_back_failed_tries_total") >= 1);
        store.uploads().forget();
        status = 0;
        awaitWritten();
        assertThat(store.object("/ckpt/a")).isEqualTo(whole());
        requireEmpty();
    }

    @Test
    void aCompletionThatIsSentAgainHasTheSameAnswer() {
        String id = begin("/ckpt/a");
        List<String> etags = send("/ckpt/a", id);
        HttpResponse<byte[]> first = complete("/ckpt/a", id, etags);
        assertThat(complete("/ckpt/a", id, etags).body()).isEqualTo(first.body());
        awaitWritten();
        assertThat(complete("/ckpt/a", id, etags).body()).isEqualTo(first.body());
        HttpResponse<byte[]> fewer = complete("/ckpt/a", id, etags.subList(0, 2));
        assertThat(fewer.statusCode()).isEqualTo(404);
        assertThat(text(fewer)).contains("NoSuchUpload");
        assertThat(trainer.put(part("/ckpt/a", id, 4), PARTS.get(2)).statusCode())
                .as("a part after the end")
                .isEqualTo(404);
        assertThat(store.queries("/ckpt/a").stream().filter("uploads"::equals)).hasSize(1);
    }

    @Test
    void aWrongListIsRefusedAndTheUploadGoesOn() {
        String id = begin("/ckpt/a");
        List<String> etags = send("/ckpt/a", id);
        String first = listed(1, etags.get(0));
        String second = listed(2, etags.get(1));
        String small = listed(3, etags.get(2));
        assertThat(text(complete("/ckpt/a", id, second + first))).contains("InvalidPartOrder");
        assertThat(text(complete("/ckpt/a", id, first + first))).contains("InvalidPartOrder");
        assertThat(text(complete("/ckpt/a", id, first + listed(2, etags.get(0)))))
                .contains("<Code>InvalidPart<");
        assertThat(text(complete("/ckpt/a", id, first + listed(9, etags.get(0)))))
                .contains("<Code>InvalidPart<");
        String last = etag(trainer.put(part("/ckpt/a", id, 4), new byte[5]));
        assertThat(text(complete("/ckpt/a", id, small + listed(4, last))))
                .contains("EntityTooSmall");
        assertThat(text(complete("/ckpt/a", id, ""))).contains("MalformedXML");
        assertThat(text(complete("/ckpt/a", id, first, "x-amz-mp-object-size", "5")))
                .contains("InvalidRequest");
        assertThat(text(complete("/ckpt/a", id, first, "If-None-Match", "*")))
                .contains("NotImplemented");
        assertThat(gateway.metric("railhead_write_back_pending")).isZero();
        assertThat(level(complete("/ckpt/a", id, etags))).isEqualTo("disk");
        awaitWritten();
        assertThat(store.object("/ckpt/a")).as("without part 4").isEqualTo(whole());
        requireEmpty();
    }

    @Test
    void aCompletionInABucketThatIsVersionedNowWaitsForTheStore() {
        String id = begin("/ckpt/a");
        List<String> etags = send("/ckpt/a", id);
        store.put("/ckpt",
                "<VersioningConfiguration><Status>Enabled</Status>".getBytes(UTF_8));
        assertThat(trainer.put("/ckpt?versioning", new byte[5]).statusCode()).isEqualTo(200);
        // A slow store has the client ask again.
        TestGateway.await(() -> level(complete("/ckpt/a", id, etags)).equals("store"));
        assertThat(store.object("/ckpt/a")).isEqualTo(whole());
        assertThat(begin("/ckpt/b")).startsWith("fake-");
    }

    @Test
    void aPartThatIsSentAgainTakesTheFormersPlace() {
        String id = begin("/ckpt/a");
        etag(trainer.put(part("/ckpt/a", id, 1), PARTS.get(1)));
        String etag = etag(trainer.put(part("/ckpt/a", id, 1), PARTS.get(0)));
        HttpResponse<byte[]> parts = trainer.get("/ckpt/a?uploadId=" + id);
        assertThat(text(parts)).containsOnlyOnce("<Part>")
                .contains("<Size>" + PART + "</Size>");
        gateway.restart(config());
        assertThat(level(complete("/ckpt/a", id, listed(1, etag)))).isEqualTo("disk");
        awaitWritten();
        assertThat(store.object("/ckpt/a")).isEqualTo(PARTS.get(0));
        requireEmpty();
    }

    @Test
    void anAbortFreesTheRoomAndNothingReachesTheStore() {
        String id = begin("/ckpt/a");
        send("/ckpt/a", id);
        assertThat(gateway.metric("railhead_write_back_uploads_bytes"))
                .isEqualTo(whole().length);
        assertThat(trainer.delete("/ckpt/a?uploadId=" + id).statusCode()).isEqualTo(204);
        requireEmpty();
        assertThat(gateway.metric("railhead_write_back_uploads")).isZero();
        assertThat(trainer.delete("/ckpt/a?uploadId=" + id).statusCode()).isEqualTo(404);
        assertThat(trainer.put(part("/ckpt/a", id, 1), PARTS.get(2)).statusCode()).isEqualTo(404);
        assertThat(store.requests()).noneMatch(request -> request.contains("/ckpt/a"));
    }

    @Test
    void anUploadIsItsWritersAndItsKeys() {
        String id = begin("/ckpt/a");
        assertThat(other.put(part("/ckpt/a", id, 1), PARTS.get(2)).statusCode()).isEqualTo(404);
        assertThat(other.delete("/ckpt/a?uploadId=" + id).statusCode()).isEqualTo(404);
        assertThat(other.get("/ckpt/a?uploadId=" + id).statusCode()).isEqualTo(404);
        assertThat(trainer.put(part("/ckpt/b", id, 1), PARTS.get(2)).statusCode()).isEqualTo(404);
        assertThat(trainer.put(part("/ckpt/a", "railhead-disk-x", 1), PARTS.get(2)).statusCode())
                .isEqualTo(404);
        assertThat(trainer.put(part("/ckpt/a", id, 0), PARTS.get(2)).statusCode()).isEqualTo(400);
        assertThat(store.requests()).noneMatch(request -> request.startsWith("PUT"));
    }

    @Test
    void whatTheStoreMustJudgeIsTheStoresUpload() {
        for (String[] header : List.of(new String[]{"x-amz-storage-class", "STANDARD_IA"},
                new String[]{"x-amz-server-side-encryption", "aws:kms"},
                new String[]{"x-amz-checksum-algorithm", "CRC64NVME"},
                new String[]{"x-amz-checksum-type", "FULL_OBJECT"})) {
            assertThat(begin("/ckpt/judged", header)).as(header[0]).startsWith("fake-");
        }
        assertThat(gateway.metric("railhead_write_back_uploads")).isZero();
    }

    @Test
    void aFullLogHasPartsWaitAndThenSlowDownAndKeepsWhatItAnswered() {
        hold();
        String id = begin("/ckpt/a");
        String etag = etag(trainer.put(part("/ckpt/a", id, 1), new byte[30 << 20]));
        String filling = begin("/ckpt/b");
        etag(trainer.put(part("/ckpt/b", filling, 1), new byte[20 << 20]));
        HttpResponse<byte[]> refused = trainer.put(part("/ckpt/a", id, 2), new byte[15 << 20]);
        assertThat(refused.statusCode()).isEqualTo(503);
        assertThat(text(refused)).contains("SlowDown");
        assertThat(gateway.metric("railhead_write_back_parts_refused_total")).isEqualTo(1);
        assertThat(begin2("/ckpt/c")).as("a new upload while little is free").isEqualTo("store");
        assertThat(trainer.delete("/ckpt/b?uploadId=" + filling).statusCode()).isEqualTo(204);
        String second = etag(trainer.put(part("/ckpt/a", id, 2), new byte[15 << 20]));
        assertThat(level(complete("/ckpt/a", id, List.of(etag, second)))).isEqualTo("disk");
        goOn();
        awaitWritten();
        assertThat(store.object("/ckpt/a")).isEqualTo(new byte[45 << 20]);
        requireEmpty();
    }

    @Test
    void aPartThatNoQuotaHoldsIsRefusedForGood() {
        gateway.restart(config().replace("  size: 64MiB", "  size: 64MiB\n  tenant_quota: 20%"));
        String id = begin("/ckpt/a");
        HttpResponse<byte[]> refused = trainer.put(part("/ckpt/a", id, 1), new byte[15 << 20]);
        assertThat(refused.statusCode()).isEqualTo(400);
        assertThat(text(refused)).contains("EntityTooLarge");
        String etag = etag(trainer.put(part("/ckpt/a", id, 1), new byte[5 << 20]));
        assertThat(level(complete("/ckpt/a", id, List.of(etag)))).isEqualTo("disk");
    }

    private String begin2(String path) {
        goOn();
        String id = begin(path);
        hold();
        return id.startsWith("fake-") ? "store" : "disk";
    }

    @Test
    void checksumsOfPartsMakeThatOfTheObject() {
        hold();
        String id = begin("/ckpt/a", "x-amz-checksum-algorithm", "CRC32");
        HttpResponse<byte[]> without = trainer.put(part("/ckpt/a", id, 1), PARTS.get(0));
        assertThat(without.statusCode()).as(text(without)).isEqualTo(400);
        String sum = BodyReader.sum("x-amz-checksum-crc32", PARTS.get(0));
        HttpResponse<byte[]> wrong = trainer.put(part("/ckpt/a", id, 1), PARTS.get(1),
                "x-amz-checksum-crc32", sum);
        assertThat(wrong.statusCode()).isEqualTo(400);
        HttpResponse<byte[]> right = trainer.put(part("/ckpt/a", id, 1), PARTS.get(0),
                "x-amz-checksum-crc32", sum);
        assertThat(right.headers().firstValue("x-amz-checksum-crc32")).hasValue(sum);
        String listed = "<Part><PartNumber>1</PartNumber><ETag>" + etag(right)
                + "</ETag><ChecksumCRC32>" + sum + "</ChecksumCRC32></Part>";
        HttpResponse<byte[]> stored = complete("/ckpt/a", id, listed);
        String composite = element(stored, "ChecksumCRC32");
        assertThat(composite).endsWith("-1");
        assertThat(trainer.head("/ckpt/a", "x-amz-checksum-mode", "ENABLED")
                .headers()
                .firstValue("x-amz-checksum-crc32")).hasValue(composite);
        goOn();
        awaitWritten();
        assertThat(store.object("/ckpt/a")).isEqualTo(PARTS.get(0));
    }

    @Test
    void aPartIsCopiedFromTheStore() {
        store.put("/free/source", whole());
        String id = begin("/ckpt/a");
        HttpResponse<byte[]> ranged = trainer.put(part("/ckpt/a", id, 1), new byte[0],
                "x-amz-copy-source", "/free/source", "x-amz-copy-source-range",
                "bytes=0-" + (PART - 1));
        assertThat(ranged.statusCode()).as(text(ranged)).isEqualTo(200);
        String first = element(ranged, "ETag").replace("&quot;", "\"");
        assertThat(first).isEqualTo(FakeStore.etag(PARTS.get(0)));
        HttpResponse<byte[]> all = trainer.put(part("/ckpt/a", id, 2), new byte[0],
                "x-amz-copy-source", "free/source");
        String second = element(all, "ETag").replace("&quot;", "\"");
        assertThat(trainer.put(part("/ckpt/a", id, 3), new byte[0], "x-amz-copy-source",
                "/free/missing").statusCode()).isEqualTo(404);
        assertThat(trainer.put(part("/ckpt/a", id, 3), new byte[0], "x-amz-copy-source",
                "/free/source", "x-amz-copy-source-if-match", "x").statusCode()).isEqualTo(412);
        assertThat(trainer.put(part("/ckpt/a", id, 3), new byte[0], "x-amz-copy-source",
                "/free/source", "x-amz-copy-source-if-none-match", "x").statusCode())
                .isEqualTo(501);
        assertThat(level(complete("/ckpt/a", id, List.of(first, second)))).isEqualTo("disk");
        awaitWritten();
        assertThat(store.object("/ckpt/a")).hasSize(PART + whole().length).startsWith(whole()[0]);
        requireEmpty();
    }

    @Test
    void openUploadsAreListedByTheAdministratorAndMissingInNoList() {
        String id = begin("/ckpt/a");
        send("/ckpt/a", id);
        assertThat(trainer.get("/ckpt?uploads").statusCode()).isEqualTo(501);
        JsonObject pending = new JsonObject(text(admin.sendAsync("POST",
                "/.railhead/admin/pending", "{}".getBytes(UTF_8)).join()));
        assertThat(pending.getInteger("open_uploads")).isEqualTo(1);
        assertThat(pending.getJsonArray("uploads").getJsonObject(0).getMap())
                .containsEntry("key", "a")
                .containsEntry("parts", 3)
                .containsEntry("bytes", whole().length);
        HttpResponse<byte[]> page = trainer.get("/ckpt/a?uploadId=" + id
                + "&max-parts=1&part-number-marker=1");
        assertThat(text(page)).containsOnlyOnce("<Part>")
                .contains("<PartNumber>2</PartNumber>", "<IsTruncated>true</IsTruncated>");
        trainer.delete("/ckpt/a?uploadId=" + id);
        assertThat(trainer.get("/ckpt?uploads").statusCode()).isNotEqualTo(501);
    }
}
