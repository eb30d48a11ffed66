package io.railhead.gateway.object.cacheonly;

import static io.railhead.gateway.RandomBytes.random;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.AnswerOrigin;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.channel.RequestOperation;
import io.railhead.protocol.channel.RequestRange;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Objects that are in no store: every test ends with a store that was asked for nothing. */
class CacheOnlyIT {
    private static final byte[] BLOCK = random(1, 3_000_000);
    private static final byte[] SMALL = random(2, 5000);
    private static final String POLICY = """
            {"Version": "2012-10-17", "Statement": [
              {"Effect": "Allow", "Principal": ["alice", "ann", "bob"], "Action": "s3:*",
               "Resource": ["arn:aws:s3:::kv-*", "arn:aws:s3:::b", "arn:aws:s3:::b/*"]},
              {"Effect": "Deny", "Principal": "ann", "Action": ["s3:GetObject", "s3:DeleteObject"],
               "Resource": "arn:aws:s3:::kv-*/secret/*"}]}
            """;

    private final AtomicLong passedNanos = new AtomicLong();
    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            gateway:
              policy: policy.json
              allow_cleartext: true
            cache:
              memory: 128MiB
              tenants:
                red: {quota: 12MiB}
            rules:
              - bucket: kv-*
                durability: none
                ttl: 2h
                max_object: 20MiB
            """).file("policy.json", POLICY).principals("""
            principals:
              - name: alice
                tenant: red
                keys: [{access_key: ALICE, secret_key: alice-secret}]
                rdma_put: true
              - name: ann
                tenant: red
                keys: [{access_key: ANN, secret_key: ann-secret}]
              - name: bob
                tenant: blue
                keys: [{access_key: BOB, secret_key: bob-secret}]
            """).clock(() -> System.nanoTime() + passedNanos.get());
    private final TestClient alice = gateway.client("ALICE", "alice-secret");
    private final TestClient ann = gateway.client("ANN", "ann-secret");
    private final TestClient bob = gateway.client("BOB", "bob-secret");

    @AfterEach
    void noStoreWasAskedForThem() {
        assertThat(store.requests()).noneMatch(request -> request.contains("/kv-"));
    }

    private static void assertPut(HttpResponse<byte[]> answer) {
        assertThat(answer.statusCode()).as(text(answer)).isEqualTo(200);
        assertThat(answer.headers().firstValue("etag")).isPresent();
        assertNotDurable(answer);
    }

    private static void assertNotDurable(HttpResponse<byte[]> answer) {
        assertThat(answer.headers().allValues("x-railhead-durability")).containsExactly("none");
    }

    private static String text(HttpResponse<byte[]> answer) {
        return new String(answer.body(), UTF_8);
    }

    private static void assertRefused(HttpResponse<byte[]> answer, int status, String code) {
        assertThat(answer.statusCode()).as(text(answer)).isEqualTo(status);
        assertThat(text(answer)).contains("<Code>" + code + "</Code>");
        assertNotDurable(answer);
    }

    private static String etag(HttpResponse<byte[]> answer) {
        return answer.headers().firstValue("etag").orElseThrow();
    }

    @Test
    void anObjectIsReadAsItWasPut() {
        for (byte[] object : new byte[][]{BLOCK, SMALL, {}}) {
            String path = "/kv-a/model/" + object.length;
            assertRefused(alice.get(path), 404, "NoSuchKey");
            assertThat(alice.head(path).statusCode()).isEqualTo(404);
            assertPut(alice.put(path, object, "x-amz-meta-layer", "7", "Content-Type", "a/b"));
            HttpResponse<byte[]> read = alice.get(path);
            assertThat(read.statusCode()).isEqualTo(200);
            assertThat(read.body()).isEqualTo(object);
            assertNotDurable(read);
            HttpResponse<byte[]> head = alice.head(path);
            assertThat(head.statusCode()).isEqualTo(200);
            assertThat(head.headers().firstValue("content-length"))
                    .contains(Integer.toString(object.length));
            assertThat(head.headers().firstValue("x-amz-meta-layer")).contains("7");
            assertThat(head.headers().firstValue("content-type")).contains("a/b");
            assertThat(etag(head)).isEqualTo(etag(read));
            assertNotDurable(head);
        }
        assertThat(alice.get("/kv-a/model/5000?versionId=null").body()).isEqualTo(SMALL);
        assertThat(alice.head("/kv-a/model/5000?versionId=null").statusCode()).isEqualTo(200);
        assertThat(alice.get("/kv-a/model/5000?versionId=v1").statusCode()).isEqualTo(404);
        assertThat(alice.head("/kv-a").statusCode()).isEqualTo(200);
        assertThat(gateway.metric("railhead_cache_only_objects")).isEqualTo(3);
        assertThat(gateway.metric("railhead_cache_only_puts_total{outcome=\"stored\",}"))
                .isEqualTo(3);
    }

    @Test
    void partsAndConditionsAreAnsweredFromMemory() {
        String etag = etag(alice.put("/kv-a/k", BLOCK));
        HttpResponse<byte[]> part = alice.get("/kv-a/k", "Range", "bytes=1000000-1999999");
        assertThat(part.statusCode()).isEqualTo(206);
        assertThat(part.body()).isEqualTo(Arrays.copyOfRange(BLOCK, 1_000_000, 2_000_000));
        assertRefused(alice.get("/kv-a/k", "Range", "bytes=3000000-"), 416, "InvalidRange");
        assertThat(alice.get("/kv-a/k", "If-None-Match", etag).statusCode()).isEqualTo(304);
        assertThat(alice.get("/kv-a/k", "If-None-Match", "\"x\"").body()).isEqualTo(BLOCK);
        assertThat(alice.get("/kv-a/k", "If-Match", etag).body()).isEqualTo(BLOCK);
        assertRefused(alice.get("/kv-a/k", "If-Match", "\"x\""), 412, "PreconditionFailed");
        assertThat(alice.get("/kv-a/k", "Cache-Control", "no-cache").body()).isEqualTo(BLOCK);
        assertThat(alice.get("/kv-a/k", "Origin", "http://there", "Range", "bytes=5-9").body())
                .isEqualTo(Arrays.copyOfRange(BLOCK, 5, 10));
    }

    @Test
    void aPresignedUrlReadsAndWrites() throws Exception {
        var http = HttpClient.newHttpClient();
        HttpResponse<byte[]> put = http.send(HttpRequest
                .newBuilder(alice.presigned("PUT", "/kv-a/signed", Duration.ofMinutes(1)))
                .PUT(HttpRequest.BodyPublishers.ofByteArray(SMALL))
                .build(), HttpResponse.BodyHandlers.ofByteArray());
        assertPut(put);
        assertThat(http.send(HttpRequest
                .newBuilder(alice.presigned("GET", "/kv-a/signed", Duration.ofMinutes(1)))
                .build(), HttpResponse.BodyHandlers.ofByteArray()).body()).isEqualTo(SMALL);
    }

    @Test
    void aKeyIsWrittenOnceUntilItIsDeleted() {
        byte[] other = BLOCK.clone();
        other[BLOCK.length - 1]++;
        String etag = etag(alice.put("/kv-a/k", BLOCK));
        HttpResponse<byte[]> again = alice.put("/kv-a/k", BLOCK);
        assertPut(again);
        assertThat(etag(again)).isEqualTo(etag);
        assertRefused(alice.put("/kv-a/k", other), 409, "ObjectAlreadyExists");
        assertRefused(alice.put("/kv-a/k", SMALL), 409, "ObjectAlreadyExists");
        assertRefused(alice.put("/kv-a/k", BLOCK, "If-None-Match", "*"), 412,
                "PreconditionFailed");
        assertThat(alice.get("/kv-a/k").body()).isEqualTo(BLOCK);
        HttpResponse<byte[]> deleted = alice.delete("/kv-a/k");
        assertThat(deleted.statusCode()).isEqualTo(204);
        assertNotDurable(deleted);
        assertThat(alice.delete("/kv-a/k").statusCode()).isEqualTo(204);
        assertRefused(alice.get("/kv-a/k"), 404, "NoSuchKey");
        assertPut(alice.put("/kv-a/k", other, "If-None-Match", "*"));
        assertThat(alice.get("/kv-a/k").body()).isEqualTo(other);
    }

    @Test
    void aTenantHearsNothingOfAnothersObjects() {
        assertPut(alice.put("/kv-a/k", SMALL));
        assertRefused(bob.get("/kv-a/k"), 404, "NoSuchKey");
        assertThat(bob.head("/kv-a/k").statusCode()).isEqualTo(404);
        assertThat(text(bob.get("/kv-a?list-type=2"))).contains("<KeyCount>0</KeyCount>");
        byte[] his = random(3, 5000);
        assertPut(bob.put("/kv-a/k", his, "If-None-Match", "*"));
        assertThat(bob.get("/kv-a/k").body()).isEqualTo(his);
        assertThat(alice.get("/kv-a/k").body()).isEqualTo(SMALL);
        assertThat(bob.delete("/kv-a/k").statusCode()).isEqualTo(204);
        assertThat(ann.get("/kv-a/k").body()).isEqualTo(SMALL);
    }

    @Test
    void aListShowsWhatTheCallerMayRead() {
        for (String key : new String[]{"a/1", "a/2", "b", "c%20d", "secret/1"}) {
            assertPut(alice.put("/kv-a/" + key, SMALL));
        }
        assertThat(keys(alice.get("/kv-a?list-type=2")))
                .containsExactly("a/1", "a/2", "b", "c d", "secret/1");
        HttpResponse<byte[]> hers = ann.get("/kv-a?list-type=2");
        assertThat(keys(hers)).containsExactly("a/1", "a/2", "b", "c d");
        assertNotDurable(hers);
        assertThat(keys(alice.get("/kv-a?prefix=a/&encoding-type=url")))
                .containsExactly("a/1", "a/2");
        String folders = text(ann.get("/kv-a?list-type=2&delimiter=/"));
        assertThat(folders).contains("<CommonPrefixes><Prefix>a/</Prefix></CommonPrefixes>")
                .doesNotContain("secret");
        HttpResponse<byte[]> first = alice.get("/kv-a?list-type=2&max-keys=2");
        assertThat(keys(first)).containsExactly("a/1", "a/2");
        String token = text(first)
                .replaceFirst("(?s).*<NextContinuationToken>(.*)</NextContinuationToken>.*", "$1");
        assertThat(keys(alice.get("/kv-a?list-type=2&max-keys=2&continuation-token=" + token)))
                .containsExactly("b", "c d");
        assertThat(keys(alice.get("/kv-a?marker=b"))).containsExactly("c d", "secret/1");
    }

    private static List<String> keys(HttpResponse<byte[]> answer) {
        assertThat(answer.statusCode()).as(text(answer)).isEqualTo(200);
        return Pattern.compile("<Key>(.*?)</Key>")
                .matcher(text(answer))
                .results()
                .map(match -> match.group(1))
                .toList();
    }

    @Test
    void manyAreDeletedAtOnceAsFarAsThePolicyAllows() throws NoSuchAlgorithmException {
        for (String key : new String[]{"a", "b", "secret/1"}) {
            assertPut(alice.put("/kv-a/" + key, SMALL));
        }
        byte[] list = ("<Delete><Object><Key>a</Key></Object><Object><Key>secret/1</Key></Object>"
                + "<Object><Key>none</Key></Object></Delete>").getBytes(UTF_8);
        String md5 = Base64.getEncoder()
                .encodeToString(MessageDigest.getInstance("MD5").digest(list));
        HttpResponse<byte[]> answer = ann.send("POST", "/kv-a?delete", list, "Content-MD5", md5);
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(text(answer)).contains("<Deleted><Key>a</Key></Deleted>",
                "<Deleted><Key>none</Key></Deleted>", "<Code>AccessDenied</Code>");
        assertThat(keys(alice.get("/kv-a?list-type=2"))).containsExactly("b", "secret/1");
    }

    @Test
    void aConditionOfADeletionHolds() throws NoSuchAlgorithmException {
        String etag = etag(alice.put("/kv-a/k", SMALL));
        assertRefused(alice.send("DELETE", "/kv-a/k", new byte[0], "If-Match", "\"x\""), 412,
                "PreconditionFailed");
        assertRefused(alice.send("DELETE", "/kv-a/k", new byte[0], "x-amz-if-match-size", "1"), 501,
                "NotImplemented");
        byte[] list = "<Delete><Object><Key>k</Key><ETag>x</ETag></Object></Delete>"
                .getBytes(UTF_8);
        String md5 = Base64.getEncoder()
                .encodeToString(MessageDigest.getInstance("MD5").digest(list));
        assertRefused(alice.send("POST", "/kv-a?delete", list, "Content-MD5", md5), 501,
                "NotImplemented");
        assertThat(alice.get("/kv-a/k").body()).isEqualTo(SMALL);
        assertThat(alice.send("DELETE", "/kv-a/k", new byte[0], "If-Match", etag).statusCode())
                .isEqualTo(204);
        assertRefused(alice.get("/kv-a/k"), 404, "NoSuchKey");
        assertRefused(alice.send("DELETE", "/kv-a/k", new byte[0], "If-Match", "*"), 412,
                "PreconditionFailed");
    }

    @Test
    void noRequestForTheBucketUnsettlesObjects() {
        assertPut(alice.put("/kv-a/k", SMALL, "Cache-Control", "private"));
        assertRefused(bob.send("DELETE", "/kv-a", new byte[0]), 501, "NotImplemented");
        HttpResponse<byte[]> read = alice.get("/kv-a/k");
        assertThat(read.body()).isEqualTo(SMALL);
        assertThat(read.headers().firstValue("x-cache")).contains("HIT");
        assertThat(alice.get("/kv-a/k").body()).isEqualTo(SMALL);
    }

    @Test
    void declaredChecksumsAreVerifiedAndKept() {
        CRC32 crc = new CRC32();
        crc.update(SMALL);
        byte[] sum = ByteBuffer.allocate(4).putInt((int) crc.getValue()).array();
        String right = Base64.getEncoder().encodeToString(sum);
        assertRefused(alice.put("/kv-a/k", SMALL, "x-amz-checksum-crc32", "AAAAAA=="), 400,
                "BadDigest");
        for (String invalid : new String[]{"AAAA", "AAAAAA", "no base64"}) {
            assertRefused(alice.put("/kv-a/k", SMALL, "x-amz-checksum-crc32", invalid), 400,
                    "InvalidRequest");
        }
        assertRefused(alice.put("/kv-a/k", SMALL, "x-amz-checksum-foo", right), 400,
                "InvalidRequest");
        assertRefused(alice.get("/kv-a/k"), 404, "NoSuchKey");
        assertPut(alice.put("/kv-a/k", SMALL, "x-amz-checksum-crc32", right,
                "x-amz-sdk-checksum-algorithm", "CRC32"));
        assertThat(alice.head("/kv-a/k", "x-amz-checksum-mode", "ENABLED")
                .headers()
                .firstValue("x-amz-checksum-crc32")).contains(right);
        assertThat(alice.get("/kv-a/k").headers().firstValue("x-amz-checksum-crc32")).isEmpty();
    }

    @Test
    void anObjectEndsWithItsLife() {
        assertPut(alice.put("/kv-a/k", SMALL));
        passedNanos.addAndGet(Duration.ofHours(2).toNanos());
        assertRefused(alice.get("/kv-a/k"), 404, "NoSuchKey");
        TestGateway.await(() -> gateway.metric("railhead_cache_only_bytes") == 0);
        assertThat(gateway.metric("railhead_cache_only_removed_total{cause=\"expired\",}"))
                .isEqualTo(1);
        assertPut(alice.put("/kv-a/k", BLOCK));
    }

    @Test
    void aFullShareEvictsWholeObjects() {
        for (int i = 0; i < 10; i++) {
            assertPut(alice.put("/kv-a/" + i, random(i, 3_000_000)));
        }
        int held = 0;
        for (int i = 0; i < 10; i++) {
            HttpResponse<byte[]> answer = alice.get("/kv-a/" + i);
            if (answer.statusCode() == 200) {
                assertThat(answer.body()).isEqualTo(random(i, 3_000_000));
                held++;
            } else {
                assertRefused(answer, 404, "NoSuchKey");
            }
        }
        assertThat(held).isBetween(2, 4);
        assertThat(gateway.metric("railhead_cache_only_removed_total{cause=\"evicted\",}"))
                .isEqualTo(10 - held);
    }

    @Test
    void requestsThatNeedAStoreAreRefused() {
        assertRefused(alice.send("POST", "/kv-a/k?uploads", new byte[0]), 501, "NotImplemented");
        assertRefused(alice.put("/kv-a/k?partNumber=1&uploadId=u", SMALL), 501, "NotImplemented");
        assertRefused(alice.get("/kv-a/k?acl"), 501, "NotImplemented");
        assertRefused(alice.get("/kv-a?versions"), 501, "NotImplemented");
        assertRefused(alice.put("/kv-a/k", new byte[0], "x-amz-copy-source", "/kv-a/j"), 501,
                "NotImplemented");
        assertRefused(alice.put("/kv-a/k", SMALL, "x-amz-server-side-encryption", "AES256"), 501,
                "NotImplemented");
        assertRefused(alice.put("/kv-a/k", random(9, 21 << 20)), 400, "EntityTooLarge");
        assertRefused(alice.put("/kv-a/k", SMALL, "x-amz-meta-long", "x".repeat(3000)), 400,
                "MetadataTooLarge");
        assertRefused(alice.put("/kv-a/k", SMALL, "x-amz-meta-long", "x".repeat(1500),
                "Content-Disposition", "x".repeat(1000)), 400, "MetadataTooLarge");
        assertRefused(alice.put("/kv-a/k", SMALL, "x-amz-acl", "public-read"), 501,
                "NotImplemented");
        assertRefused(alice.put("/kv-a/k", SMALL, "x-amz-grant-read", "id=1"), 501,
                "NotImplemented");
        assertThat(text(alice.get("/kv-a?location"))).contains("LocationConstraint");
    }

    @Test
    void aNativeChannelReachesTheSameObjects() {
        try (TestPeer peer = new TestPeer(alice, "alice-secret", 4 << 20)) {
            peer.set(0, BLOCK);
            assertThat(peer.ask(Request.head(0, "kv-a", "n")).status()).isEqualTo(404);
            assertThat(peer.ask(Request.get(0, "kv-a", "n", peer.key(), 0, BLOCK.length)).status())
                    .isEqualTo(404);
            Request put = new Request(0, RequestOperation.PUT, RequestRange.ALL, peer.key(), 0,
                    BLOCK.length, 0, "kv-a", "n", "", "", "", Map.of());
            assertThat(peer.ask(put).status()).isEqualTo(200);
            peer.fill(0);
            Answer read = peer.ask(Request.get(0, "kv-a", "n", peer.key(), 0, BLOCK.length));
            assertThat(read.status()).isEqualTo(200);
            assertThat(read.cache()).isEqualTo(AnswerOrigin.HIT);
            assertThat(peer.bytes(0, BLOCK.length)).isEqualTo(BLOCK);
            assertThat(peer.ask(Request.head(0, "kv-a", "n")).objectSize()).isEqualTo(BLOCK.length);
            peer.fill(1);
            assertThat(peer.ask(put).status()).isEqualTo(409);
            assertThat(alice.get("/kv-a/n").body()).isEqualTo(BLOCK);
        }
    }

    @Test
    void memoryOfAClientIsWrittenToAndReadFrom() {
        try (TestPeer peer = new TestPeer(alice, "alice-secret", 4 << 20)) {
            peer.set(0, BLOCK);
            assertPut(alice.put("/kv-a/token", new byte[0], peer.headers(0, BLOCK.length)));
            assertThat(alice.get("/kv-a/token").body()).isEqualTo(BLOCK);
            peer.fill(0);
            HttpResponse<byte[]> answer = alice.get("/kv-a/token",
                    peer.headers(0, BLOCK.length));
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(peer.bytes(0, BLOCK.length)).isEqualTo(BLOCK);
            assertNotDurable(answer);
            assertRefused(alice.get("/kv-a/none", peer.headers(0, BLOCK.length)), 404,
                    "NoSuchKey");
        }
    }
}
