package io.railhead.gateway.channel;

import static io.railhead.gateway.RandomBytes.random;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
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
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.zip.CRC32;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Requests over a native channel: what they bring, and every way to be refused. One class, since
 * all of it is asked of one gateway by one peer.
 */
class ChannelIT {
    private static final int BUFFER = 24 << 20;
    private static final int MARK = 0x5a;
    private static final byte[] OBJECT = random(10_000_000);
    private static final long LAST_MODIFIED = 1_795_132_800_000L;

    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            cache:
              memory: 128MiB
            rules:
              - bucket: held
                freshness: immutable
              - bucket: plain
                rdma: off
              - bucket: uncached
                cache: off
            """).principals(TestGateway.UPLOADER + TestGateway.OTHER);
    private final TestClient client = gateway.client();
    private TestPeer peer;

    @BeforeEach
    void start() {
        peer = gateway.closing(new TestPeer(client, "SK", BUFFER));
        peer.fill(MARK);
        for (String bucket : List.of("held", "b", "plain", "uncached")) {
            store.put("/" + bucket + "/object", OBJECT);
        }
    }

    private Answer get(String bucket, String key, long offset, long window) {
        return peer.ask(Request.get(0, bucket, key, peer.key(), offset, window));
    }

    private Answer get(String bucket, RequestRange range) {
        return peer.ask(Request.get(0, bucket, "object", peer.key(), 0, BUFFER).withRange(range));
    }

    private static void assertDelivered(Answer answer, int status, long first, long bytes) {
        assertThat(answer.status()).as("%s", answer).isEqualTo(status);
        assertThat(answer.bytesMoved()).isEqualTo(bytes);
        assertThat(answer.firstByte()).isEqualTo(first);
        assertThat(answer.objectSize()).isEqualTo(OBJECT.length);
        assertThat(answer.etag()).isEqualTo(FakeStore.etag(OBJECT));
        assertThat(answer.lastModifiedMillis()).isEqualTo(LAST_MODIFIED);
    }

    private void assertRefused(Answer answer, int status, String code) {
        assertThat(answer.status()).as("%s", answer).isEqualTo(status);
        assertThat(answer.code()).isEqualTo(code);
        assertThat(answer.bytesMoved()).isZero();
        assertThat(answer.headers().get(Answer.REQUEST_ID)).as("as logs name it")
                .matches("[0-9a-f]{1,6}/" + Integer.toUnsignedString(answer.id()));
        assertThat(peer.isAll(MARK)).isTrue();
    }

    /** A client that verifies what it got asks for its checksum. */
    @Test
    void whatAGetBroughtInIsDescribedWithoutTheStore() {
        assertDelivered(get("held", "object", 0, BUFFER), 200, 0, OBJECT.length);
        int asked = store.requests().size();
        Answer head = peer.ask(Request.head(0, "held", "object"));
        assertThat(head.objectSize()).isEqualTo(OBJECT.length);
        assertThat(head.etag()).isEqualTo(FakeStore.etag(OBJECT));
        assertThat(store.requestsAfter(asked)).isEmpty();
        store.close();
        assertThat(peer.ask(Request.head(0, "held", "object")).status()).isEqualTo(200);
        assertThat(client.head("/held/object", "x-amz-checksum-mode", "ENABLED").statusCode())
                .isEqualTo(200);
        assertDelivered(get("held", "object", 0, BUFFER), 200, 0, OBJECT.length);
    }

    @ParameterizedTest
    @ValueSource(strings = {"held", "b"})
    void anObjectLandsInTheBufferColdAndHeld(String bucket) {
        List<AnswerOrigin> results = new ArrayList<>();
        for (int round = 0; round < 3; round++) {
            peer.fill(round);
            Answer answer = get(bucket, "object", 100, BUFFER - 100);
            assertDelivered(answer, 200, 0, OBJECT.length);
            results.add(answer.cache());
            assertThat(peer.bytes(100, OBJECT.length)).isEqualTo(OBJECT);
            assertThat(peer.bytes(0, 100)).containsOnly(round);
            assertThat(peer.bytes(100 + OBJECT.length, 100)).containsOnly(round);
        }
        AnswerOrigin again = bucket.equals("held") ? AnswerOrigin.HIT : AnswerOrigin.REVALIDATED;
        assertThat(results).containsExactly(AnswerOrigin.MISS, again, again);
    }

    @ParameterizedTest
    @ValueSource(strings = {"held", "b"})
    void rangesAreCutOutOfTheObject(String bucket) {
        for (int round = 0; round < 2; round++) {
            assertRange(get(bucket, new RequestRange.Between(7, 1_000_006)), 7, 1_000_007);
            assertRange(get(bucket, new RequestRange.From(9_999_990)), 9_999_990, 10_000_000);
            assertRange(get(bucket, new RequestRange.Last(17)), 9_999_983, 10_000_000);
            assertRange(get(bucket, new RequestRange.Last(1L << 40)), 0, 10_000_000);
            assertRange(get(bucket, new RequestRange.Between(0, Long.MAX_VALUE)), 0, 10_000_000);
        }
    }

    private void assertRange(Answer answer, int from, int to) {
        assertDelivered(answer, 206, from, to - from);
        assertThat(peer.bytes(0, to - from)).isEqualTo(Arrays.copyOfRange(OBJECT, from, to));
    }

    @Test
    void aRangePastTheEndIsRefused() {
        assertRefused(get("held", new RequestRange.From(OBJECT.length)), 416, "InvalidRange");
        assertRefused(get("held", new RequestRange.Last(0)), 416, "InvalidRange");
    }

    @Test
    void anObjectLargerThanTheWindowIsClipped() {
        for (int round = 0; round < 2; round++) {
            peer.fill(9);
            assertDelivered(get("held", "object", 1, 65_536), 206, 0, 65_536);
            assertThat(peer.bytes(1, 65_536)).isEqualTo(Arrays.copyOf(OBJECT, 65_536));
            assertThat(peer.bytes(65_537, 1000)).containsOnly(9);
        }
    }

    @Test
    void anEmptyObjectMovesNothing() {
        store.put("/held/empty", new byte[0]);
        for (int round = 0; round < 2; round++) {
            Answer answer = get("held", "empty", 0, 1000);
            assertThat(answer.status()).as("%s", answer).isEqualTo(200);
            assertThat(answer.bytesMoved()).isZero();
            assertThat(answer.etag()).isEqualTo(FakeStore.etag(new byte[0]));
        }
        assertThat(peer.isAll(MARK)).isTrue();
    }

    @Test
    void aRangeOfAnEmptyObjectIsRefused() {
        store.put("/held/empty", new byte[0]);
        for (int round = 0; round < 2; round++) {
            for (RequestRange range : List.of(new RequestRange.Between(0, 7),
                    new RequestRange.From(8 << 20))) {
                assertRefused(peer.ask(Request.get(0, "held", "empty", peer.key(), 0, BUFFER)
                        .withRange(range)), 416, "InvalidRange");
            }
        }
    }

    @Test
    void aKeyIsTakenAsItIs() {
        byte[] bytes = random(1000);
        store.put("/b/a%20%25%2B%C3%A9//..%2F/x~", bytes);
        store.put("/b/a%20%25%2B%C3%A9//../x~", bytes);
        Answer answer = get("b", "a %+é//../x~", 0, 2000);
        assertThat(answer.status()).as("%s", answer).isEqualTo(200);
        assertThat(peer.bytes(0, 1000)).isEqualTo(bytes);
    }

    @Test
    void aVersionIsAskedForByItsId() {
        store.header("x-amz-version-id", "v 1");
        Request current = Request.get(0, "held", "object", peer.key(), 0, BUFFER);
        Request version = new Request(0, RequestOperation.GET, RequestRange.ALL, peer.key(), 0,
                BUFFER, 0, "held", "object", "v 1", "", "", Map.of());
        assertThat(peer.ask(version).versionId()).isEqualTo("v 1");
        assertThat(peer.ask(version).cache()).isEqualTo(AnswerOrigin.HIT);
        assertThat(peer.ask(current).cache()).isEqualTo(AnswerOrigin.MISS);
    }

    @Test
    void aConditionIsJudged() {
        assertDelivered(peer.ask(ifMatch(FakeStore.etag(OBJECT))), 200, 0, OBJECT.length);
        assertThat(peer.ask(ifMatch(FakeStore.etag(OBJECT))).cache()).isEqualTo(AnswerOrigin.HIT);
        String unquoted = FakeStore.etag(OBJECT).replace("\"", "");
        assertDelivered(peer.ask(ifMatch(unquoted)), 200, 0, OBJECT.length);
        assertThat(peer.ask(ifMatch(unquoted)).cache()).isEqualTo(AnswerOrigin.HIT);
        peer.fill(MARK);
        assertRefused(peer.ask(ifMatch("\"another\"")), 412, "PreconditionFailed");
        assertRefused(peer.ask(ifMatch(unquoted.substring(1))), 412, "PreconditionFailed");
    }

    private Request ifMatch(String etag) {
        return new Request(0, RequestOperation.GET, RequestRange.ALL, peer.key(), 0, BUFFER, 0,
                "held", "object", "", etag, "", Map.of());
    }

    @Test
    void whatTheStoreRefusesIsRefusedInItsWords() {
        assertRefused(get("held", "nothing", 0, 1000), 404, "NoSuchKey");
        assertRefused(get("b", "nothing", 0, 1000), 404, "NoSuchKey");
        assertThat(peer.ask(Request.head(0, "b", "nothing")).status()).isEqualTo(404);
        store.deny("AK");
        assertRefused(get("b", "object", 0, 1000), 403, "AccessDenied");
    }

    @Test
    void metadataComesAsLines() {
        store.header("x-amz-meta-kind", "shard");
        store.header("Content-Type", "application/x-tar");
        for (int round = 0; round < 2; round++) {
            Answer answer = peer.ask(Request.head(0, "held", "object"));
            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.objectSize()).isEqualTo(OBJECT.length);
            assertThat(answer.etag()).isEqualTo(FakeStore.etag(OBJECT));
            assertThat(answer.lastModifiedMillis()).isEqualTo(LAST_MODIFIED);
            assertThat(answer.headers()).containsEntry("x-amz-meta-kind", "shard")
                    .containsEntry("content-type", "application/x-tar");
        }
        assertThat(store.count("HEAD /held/object")).isEqualTo(1);
    }

    @Test
    void anUploadIsReadOutOfTheBufferAndReadBack() {
        byte[] upload = random(9_000_001);
        peer.set(50, upload);
        Answer answer = put("uploaded", 50, upload.length,
                Map.of("x-amz-checksum-crc32", crc32(upload), "content-type", "a/b"));
        assertThat(answer.status()).as("%s", answer).isEqualTo(200);
        assertThat(answer.bytesMoved()).isEqualTo(upload.length);
        assertThat(answer.etag()).isEqualTo(FakeStore.etag(upload));
        assertThat(store.object("/b/uploaded")).isEqualTo(upload);
        peer.fill(0);
        assertThat(get("b", "uploaded", 0, BUFFER).bytesMoved()).isEqualTo(upload.length);
        assertThat(peer.bytes(0, upload.length)).isEqualTo(upload);
    }

    /** On the channel a text is UTF-8, over HTTP each of its bytes a character. */
    @Test
    void metadataMayBeAnyText() {
        List<String> stored = new CopyOnWriteArrayList<>();
        store.fault((exchange, body) -> {
            stored.add(String.valueOf(exchange.getRequestHeaders().getFirst("x-amz-meta-name")));
            return false;
        });
        String name = "é, Ω, 轨";
        Answer answer = put("named", 0, 1000, Map.of("x-amz-meta-name", name));
        assertThat(answer.status()).as("%s", answer).isEqualTo(200);
        String header = new String(name.getBytes(UTF_8), ISO_8859_1);
        assertThat(stored).containsExactly(header);
        store.header("x-amz-meta-name", header);
        assertThat(peer.ask(Request.head(0, "b", "named")).headers())
                .containsEntry("x-amz-meta-name", name);
        assertThat(gateway.metric("railhead_requests_in_flight")).isZero();
    }

    @Test
    void blanksAroundAHeadersValueAreNotPartOfIt() {
        List<String> stored = new CopyOnWriteArrayList<>();
        store.fault((exchange, body) -> {
            stored.add(String.valueOf(exchange.getRequestHeaders().getFirst("x-amz-meta-name")));
            return false;
        });
        assertThat(put("blank", 0, 1000, Map.of("x-amz-meta-name", " \ta b\t ")).status())
                .isEqualTo(200);
        assertThat(stored).containsExactly("a b");
        Request named = Request.get(0, "b", "object", peer.key(), 0, 1000);
        String etag = peer.ask(named).etag();
        for (String ifMatch : List.of(etag, " " + etag + "\t")) {
            assertThat(peer.ask(ifMatching(named, ifMatch)).status()).isEqualTo(206);
        }
        assertThat(peer.ask(ifMatching(named, "\u00e9")).status()).isEqualTo(412);
        assertThat(
                gateway.metric("railhead_backend_endpoints{backend=\"store\",state=\"healthy\",}"))
                .isEqualTo(1);
    }

    private static Request ifMatching(Request asked, String ifMatch) {
        return new Request(asked.id(), asked.operation(), asked.range(), asked.bufferKey(),
                asked.offset(), asked.window(), 0, asked.bucket(), asked.key(), "", ifMatch, "",
                Map.of());
    }

    /** It may be stored: a proxy says as little of a connection that broke. */
    @Test
    void aWriteThatIsRefusedWithoutADocumentIsNotCalledSlow() {
        store.fault((exchange, _) -> {
            FakeStore.answerQuietly(exchange, 503);
            return true;
        });
        Answer answer = put("unknown", 0, 1000, Map.of());
        assertThat(answer.status()).isEqualTo(503);
        assertThat(answer.code()).isEqualTo("ServiceUnavailable");
    }

    private Answer put(String key, long offset, long bytes, Map<String, String> headers) {
        return peer.ask(Request.put(0, "b", key, peer.key(), offset, bytes, headers));
    }

    @Test
    void anUploadWhoseChecksumIsWrongCommitsNothing() {
        assertRefused(put("wrong", 0, 300_000, Map.of("x-amz-checksum-crc32", "AAAAAA==")), 400,
                "BadDigest");
        assertRefused(put("wrong", 0, 300_000, Map.of("content-md5", "!")), 400,
                "InvalidDigest");
        assertThat(store.object("/b/wrong")).isNull();
    }

    @Test
    void whatAnUploadMayNotSayIsRefused() {
        assertRefused(put("copied", 0, 1000, Map.of("x-amz-copy-source", "/b/object")), 400,
                "InvalidArgument");
        assertThat(put("empty", 0, 0, Map.of()).code()).isEqualTo("empty");
        assertThat(store.object("/b/copied")).isNull();
        assertThat(store.object("/b/empty")).isNull();
    }

    private static String crc32(byte[] bytes) {
        CRC32 crc = new CRC32();
        crc.update(bytes);
        return Base64.getEncoder()
                .encodeToString(ByteBuffer.allocate(4).putInt((int) crc.getValue()).array());
    }

    @Test
    void aPartIsUploadedUnderItsNumber() {
        byte[] part = random(5_000_000);
        peer.set(0, part);
        Answer answer = peer.ask(new Request(0, RequestOperation.UPLOAD_PART, RequestRange.ALL,
                peer.key(), 0, part.length, 3, "b", "many", "", "", "../up load&acl", Map.of()));
        assertThat(answer.status()).as("%s", answer).isEqualTo(200);
        assertThat(answer.etag()).isEqualTo(FakeStore.etag(part));
        assertThat(store.queries("/b/many")).singleElement()
                .satisfies(query -> assertThat(query.split("&"))
                        .containsExactlyInAnyOrder("partNumber=3",
                                "uploadId=..%2Fup%20load%26acl"));
    }

    @Test
    void aWindowOutsideTheBufferIsRefused() {
        store.put("/held/small", random(100));
        get("held", "small", 0, 1000);
        peer.fill(MARK);
        for (String key : List.of("small", "object")) {
            assertRefused(get("held", key, BUFFER - 999, 1000), 400, "RDMAOutOfBounds");
            assertRefused(get("held", key, -1, 1000), 400, "RDMAOutOfBounds");
            assertRefused(get("held", key, 1, -1), 400, "RDMAOutOfBounds");
            assertRefused(get("held", key, 0, 0), 400, "RDMAOutOfBounds");
        }
        assertRefused(put("outside", 1, BUFFER, Map.of()), 400, "RDMAOutOfBounds");
        assertThat(store.object("/b/outside")).isNull();
    }

    @Test
    void anothersBufferIsUnknown() {
        get("held", "object", 0, BUFFER);
        peer.fill(MARK);
        try (TestPeer other = new TestPeer(gateway.client("OTHER", "other-secret"),
                "other-secret", 4096)) {
            other.fill(1);
            assertRefused(
                    peer.ask(Request.get(0, "held", "object", other.key(), 0, 1000)), 403,
                    "RDMAUnknownKey");
            assertThat(other.isAll(1)).isTrue();
        }
    }

    @Test
    void whatIsNotServedHereSaysWhy() {
        store.put("/b/private", OBJECT);
        Answer declinedByRule = get("plain", "object", 0, BUFFER);
        assertThat(declinedByRule.code()).isEqualTo("rule");
        assertThat(declinedByRule.headers()).containsKey(Answer.REQUEST_ID);
        assertThat(get("uncached", "object", 0, BUFFER).code()).isEqualTo("uncacheable");
        store.header("Cache-Control", "private");
        Answer secret = get("b", "private", 0, BUFFER);
        assertThat(secret.code()).isEqualTo("uncacheable");
        assertThat(secret.status()).isZero();
        assertThat(peer.isAll(MARK)).isTrue();
        try (TestPeer other = new TestPeer(gateway.client("OTHER", "other-secret"),
                "other-secret", 4096)) {
            Answer declined = other
                    .ask(Request.put(0, "b", "forbidden", other.key(), 0, 4096, Map.of()));
            assertThat(declined.status()).isZero();
            assertThat(declined.code()).isEqualTo("permission");
        }
        assertThat(store.object("/b/forbidden")).isNull();
        assertThat(gateway.metric("railhead_rdma_declined_total{reason=\"permission\",}"))
                .isEqualTo(1);
        assertThat(gateway.metric(
                "railhead_channel_requests_total{operation=\"get\",outcome=\"declined\",}"))
                .isEqualTo(3);
    }

    @Test
    void aBucketThatCannotBeIsRefused() {
        assertRefused(get("a/b", "object", 0, 1000), 400, "InvalidBucketName");
        assertRefused(get("..", "object", 0, 1000), 400, "InvalidBucketName");
        assertRefused(get("%2e", "object", 0, 1000), 400, "InvalidBucketName");
    }

    @Test
    void aBatchIsAnsweredEachForItself() {
        get("held", "object", 0, BUFFER);
        Request range = Request.get(0, "held", "object", peer.key(), 100, 1000)
                .withRange(new RequestRange.Last(1000));
        List<Answer> answers = peer.askAll(List.of(range, Request.head(0, "held", "object"),
                Request.get(0, "b", "nothing", peer.key(), 0, 1000),
                Request.get(0, "b", "object", peer.key(), 5000, 4096),
                Request.get(0, "held", "object", peer.key(), BUFFER, 1),
                Request.put(0, "b", "batched", peer.key(), 100, 1000, Map.of())));
        assertThat(answers).extracting(Answer::status)
                .containsExactly(206, 200, 404, 206, 400, 200);
        assertThat(peer.bytes(100, 1000))
                .isEqualTo(Arrays.copyOfRange(OBJECT, OBJECT.length - 1000, OBJECT.length));
        assertThat(peer.bytes(5000, 4096)).isEqualTo(Arrays.copyOf(OBJECT, 4096));
    }

    @Test
    void manyRequestsAreServedAtOnce() {
        Random random = new Random(7);
        int window = 64 << 10;
        List<CompletableFuture<Answer>> answers = new ArrayList<>();
        List<Integer> froms = new ArrayList<>();
        byte[] upload = random(window);
        for (int i = 0; i < 200; i++) {
            long offset = (long) i * window;
            int from = random.nextInt(OBJECT.length - window);
            froms.add(from);
            String bucket = random.nextBoolean() ? "held" : "b";
            boolean isUpload = i % 10 == 9;
            if (isUpload) {
                peer.set(offset, upload);
            }
            answers.add(peer.send(isUpload
                    ? Request.put(0, "b", "up" + i, peer.key(), offset, window, Map.of())
                    : Request.get(0, bucket, "object", peer.key(), offset, window)
                            .withRange(new RequestRange.Between(from, from + window - 1))));
        }
        for (int i = 0; i < 200; i++) {
            Answer answer = answers.get(i).join();
            assertThat(answer.isSuccess()).as("%s", answer).isTrue();
            byte[] expected = i % 10 == 9
                    ? upload
                    : Arrays.copyOfRange(OBJECT, froms.get(i), froms.get(i) + window);
            assertThat(peer.bytes((long) i * window, window)).isEqualTo(expected);
        }
    }
}
