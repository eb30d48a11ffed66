package io.railhead.backend.testing;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.railhead.backend.Backend;
import io.railhead.backend.BackendConfig;
import io.railhead.backend.BackendException;
import io.railhead.backend.BackendRequest;
import io.railhead.backend.Caller;
import io.railhead.backend.Capabilities;
import io.railhead.backend.Headers;
import io.railhead.backend.Payload;
import io.railhead.backend.Requests;
import io.railhead.backend.Target;
import io.railhead.backend.aws.AwsBackend;
import io.railhead.backend.testing.Calls.Reply;
import java.net.URI;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;

/**
 * What {@link Backend} promises over a real store. A subclass starts the store and says, with the
 * reason, what that store is known not to do. One class, because each store inherits all of it.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class BackendContract {
    private static final Headers NONE = Headers.NONE;
    private static final long MIB = 1024 * 1024;

    private @Nullable Backend opened;
    private @Nullable Calls made;

    protected abstract URI endpoint();

    protected abstract Caller.Credential credential();

    /** What an active probe must find here. */
    protected abstract Capabilities capabilities();

    /** Whether keys with empty, {@code .} and {@code ..} segments are accepted. */
    protected abstract boolean takesKeysWithOddSegments();

    @BeforeAll
    void createBucket() {
        Backend backend = new AwsBackend(new BackendConfig("contract", List.of(endpoint()),
                "us-east-1", null, true, Duration.ofSeconds(5), Duration.ofSeconds(30),
                Duration.ofSeconds(30), 32, 3, BackendConfig.TrailerPolicy.AUTO,
                BackendConfig.Fetches.of(32), null));
        opened = backend;
        Calls calls = new Calls(backend, "contract-" + UUID.randomUUID(), credential());
        made = calls;
        assertThat(calls.call("PUT", "", null, NONE, "").status()).isEqualTo(200);
    }

    @AfterAll
    void closeBackend() {
        if (opened != null) {
            opened.close();
        }
    }

    private Calls calls() {
        if (made == null) {
            throw new AssertionError("not started");
        }
        return made;
    }

    @Test
    void whatIsPutIsWhatIsRead() {
        byte[] content = bytes(100_000);
        Reply put = calls().put("dir/object", content);
        assertThat(put.status()).isEqualTo(200);
        Reply get = calls().get("dir/object");
        assertThat(get.status()).isEqualTo(200);
        assertThat(get.body()).isEqualTo(content);
        assertThat(get.header("ETag")).isEqualTo(put.header("ETag"));
    }

    @Test
    void anEmptyObjectIsReadAsEmpty() {
        assertThat(calls().put("empty", new byte[0]).status()).isEqualTo(200);
        Reply get = calls().get("empty");
        assertThat(get.status()).isEqualTo(200);
        assertThat(get.body()).isEmpty();
    }

    @Test
    void aHeadHasTheLengthAndNoBody() {
        calls().put("headed", bytes(12_345));
        for (int i = 0; i < 40; i++) { // more than there are connections: each must come back
            Reply head = calls().head("headed");
            assertThat(head.status()).isEqualTo(200);
            assertThat(head.header("Content-Length")).isEqualTo("12345");
            assertThat(head.body()).isEmpty();
        }
    }

    @Test
    void aMissingKeyIs404WithTheStoresOwnError() {
        Reply get = calls().get("missing");
        assertThat(get.status()).isEqualTo(404);
        assertThat(get.text()).contains("NoSuchKey");
    }

    @Test
    void metadataComesBack() {
        Headers headers = Headers.builder()
                .add("x-amz-meta-colour", "signal  red")
                .add("Content-Type", "text/x-rail")
                .build();
        calls().send(Requests.put(calls().target("meta", null), credential(), headers,
                new Payload.Bytes(ByteBuffer.wrap(bytes(3)))));
        Reply head = calls().head("meta");
        assertThat(head.header("x-amz-meta-colour")).isEqualTo("signal  red");
        assertThat(head.header("Content-Type")).isEqualTo("text/x-rail");
    }

    @Test
    void aRangeIsThatRange() {
        byte[] content = bytes(1000);
        calls().put("ranged", content);
        Reply part = calls().range("ranged", 100, 50, null);
        assertThat(part.status()).isEqualTo(206);
        assertThat(part.header("Content-Range")).isEqualTo("bytes 100-149/1000");
        assertThat(part.body()).isEqualTo(Arrays.copyOfRange(content, 100, 150));
    }

    @Test
    void aRangePastTheEndIs416() {
        calls().put("short", bytes(10));
        assertThat(calls().range("short", 10, 5, null).status()).isEqualTo(416);
    }

    @Test
    void aRangeOfAnotherVersionIs412() {
        String first = calls().put("versioned", bytes(100)).header("ETag");
        assertThat(calls().range("versioned", 0, 10, first).status()).isEqualTo(206);
        calls().put("versioned", bytes(101));
        assertThat(calls().range("versioned", 0, 10, first).status()).isEqualTo(412);
    }

    @Test
    void anUnchangedObjectIs304() {
        String etag = calls().put("unchanged", bytes(100)).header("ETag");
        Headers condition = Headers.builder().add("If-None-Match", etag).build();
        for (String method : List.of("GET", "HEAD")) {
            Reply reply = calls().call(method, "unchanged", null, condition, "");
            assertThat(reply.status()).isEqualTo(304);
            assertThat(reply.body()).isEmpty();
        }
    }

    @Test
    void aDeletedObjectIsGone() {
        calls().put("deleted", bytes(1));
        assertThat(calls().call("DELETE", "deleted", null, NONE, "").status()).isEqualTo(204);
        assertThat(calls().head("deleted").status()).isEqualTo(404);
    }

    @Test
    void aListingTakesItsParametersFromTheQuery() {
        for (String key : List.of("list%20a/1", "list%20a/2", "list%20b/1")) {
            calls().put(key, bytes(1));
        }
        Reply page = calls().call("GET", "",
                "list-type=2&prefix=list%20a%2F&max-keys=1&encoding-type=url", NONE, "");
        assertThat(page.status()).isEqualTo(200);
        assertThat(page.text()).contains("<IsTruncated>true</IsTruncated>")
                .contains("a/1")
                .doesNotContain("a/2");
        assertThat(calls().call("GET", "", "prefix=list+a/&list-type=2", NONE, "").text())
                .contains("a/1")
                .contains("a/2")
                .doesNotContain("b/1");
    }

    @Test
    void bucketsAreListedWithoutABucket() {
        Calls service = new Calls(calls().backend(), null, credential());
        assertThat(service.call("GET", "", null, NONE, "").text())
                .contains("<Name>" + calls().bucket() + "</Name>");
    }

    @Test
    void aSubresourceNeedsNoValue() {
        Reply location = calls().call("GET", "", "location", NONE, "");
        assertThat(location.status()).isEqualTo(200);
        assertThat(location.text()).contains("LocationConstraint");
    }

    @Test
    void anObjectIsCopiedByTheStore() {
        byte[] content = bytes(5000);
        calls().put("copied", content);
        Headers source = Headers.builder()
                .add("x-amz-copy-source", "/" + calls().bucket() + "/copied")
                .build();
        assertThat(calls().call("PUT", "copy", null, source, "").status()).isEqualTo(200);
        assertThat(calls().get("copy").body()).isEqualTo(content);
    }

    @Test
    void aMultipartUploadBecomesOneObject() {
        String opened = calls().call("POST", "multi", "uploads", NONE, "").text();
        String upload = opened.replaceAll("(?s).*<UploadId>(.*)</UploadId>.*", "$1");
        byte[] first = bytes((int) (5 * MIB));
        byte[] second = bytes(1000);
        String xml = "<CompleteMultipartUpload>" + part(upload, 1, first) + part(upload, 2, second)
                + "</CompleteMultipartUpload>";
        Reply done = calls().call("POST", "multi", "uploadId=" + upload, NONE, xml);
        assertThat(done.status()).isEqualTo(200);
        assertThat(done.text()).contains("CompleteMultipartUploadResult");
        byte[] whole = calls().get("multi").body();
        assertThat(whole).hasSize(first.length + second.length)
                .startsWith(first)
                .endsWith(second);
    }

    private String part(String upload, int number, byte[] content) {
        Target target = calls().target("multi", "partNumber=" + number + "&uploadId=" + upload);
        Reply reply = calls().send(Requests.put(target, credential(), NONE,
                new Payload.Stream(Bodies.of(content, 70_000), content.length, "UNSIGNED-PAYLOAD",
                        Map.of())));
        assertThat(reply.status()).isEqualTo(200);
        return "<Part><PartNumber>" + number + "</PartNumber><ETag>" + reply.header("ETag")
                + "</ETag></Part>";
    }

    @ParameterizedTest
    @ValueSource(strings = {"a+b", "a%2Bb", "a%20b", "%C3%A9t%C3%A9", "e%CC%81", "100%25",
            "semi;colon", "q%3Fx=y&z", "(brackets)", "~tilde%7e", "%E2%98%83", "it's!", "a:b@c",
            "slash%2Fescaped", "new%0Aline%09tab"})
    void anOddKeyIsKeptByteForByte(String rawKey) {
        assumeTrue(takesControlCharacters() || !rawKey.contains("%0A"),
                "the store refuses control characters in keys");
        byte[] content = rawKey.getBytes(UTF_8);
        assertThat(calls().put("odd/" + rawKey, content).status()).isEqualTo(200);
        assertThat(calls().get("odd/" + rawKey).body()).isEqualTo(content);
    }

    /** Whether keys may hold them. */
    protected boolean takesControlCharacters() {
        return true;
    }

    @ParameterizedTest
    @ValueSource(strings = {"d//e", "d/./e", "d/../e", "d/e/", "/leading"})
    void emptyAndDotSegmentsAreNotNormalised(String rawKey) {
        assumeTrue(takesKeysWithOddSegments(), "the store refuses or rewrites such keys");
        byte[] content = rawKey.getBytes(UTF_8);
        assertThat(calls().put("segments/" + rawKey, content).status()).isEqualTo(200);
        assertThat(calls().get("segments/" + rawKey).body()).isEqualTo(content);
    }

    @Test
    void anAnonymousRequestIsRefused() {
        calls().put("private", bytes(10));
        assertThat(calls().as(new Caller.Anonymous()).get("private").status()).isEqualTo(403);
    }

    @Test
    void aWrongSecretIsRefused() {
        calls().put("secret", bytes(10));
        Caller wrong = new Caller.Credential(credential().accessKey(), "wrong-secret-key", null);
        assertThat(calls().as(wrong).get("secret").status()).isEqualTo(403);
        assertThat(calls().as(wrong).put("secret", bytes(11)).status()).isEqualTo(403);
        assertThat(calls().head("secret").header("Content-Length")).isEqualTo("10");
    }

    @Test
    void aBodyThatFailsCommitsNothing() {
        for (long failAt : new long[]{0, 100_000, 3 * MIB}) {
            Payload.Stream payload = new Payload.Stream(Bodies.failing(3 * MIB, failAt), 3 * MIB,
                    "UNSIGNED-PAYLOAD", Map.of());
            BackendRequest request = Requests.put(calls().target("aborted", null), credential(),
                    NONE, payload);
            assertThatThrownBy(() -> calls().send(request)).isInstanceOf(BackendException.class);
            assertThat(calls().head("aborted").status()).isEqualTo(404);
        }
    }

    @Test
    void aBodyOfAnotherLengthCommitsNothing() {
        for (int length : new int[]{999, 1001}) {
            Payload.Stream payload = new Payload.Stream(Bodies.of(bytes(length), 100), 1000,
                    "UNSIGNED-PAYLOAD", Map.of());
            BackendRequest request = Requests.put(calls().target("wrong-length", null),
                    credential(), NONE, payload);
            assertThatThrownBy(() -> calls().send(request)).isInstanceOf(BackendException.class);
            assertThat(calls().head("wrong-length").status()).isEqualTo(404);
        }
    }

    /** Whether it takes a body under {@code Transfer-Encoding: chunked}, which AWS S3 does not. */
    protected boolean takesBodiesWithoutLength() {
        return true;
    }

    @Test
    void aBodyOfUnknownLengthIsStoredOrRefused() {
        for (int length : new int[]{0, 3, 3 * (int) MIB}) {
            byte[] content = bytes(length);
            int status = calls().send(unsized("unsized", Bodies.of(content, 10_000))).status();
            assertThat(status).isEqualTo(takesBodiesWithoutLength() ? 200 : 411);
            if (takesBodiesWithoutLength()) {
                assertThat(calls().get("unsized").body()).isEqualTo(content);
            }
        }
    }

    @Test
    void aBodyOfUnknownLengthThatFailsCommitsNothing() {
        assumeTrue(takesBodiesWithoutLength(), "the store takes no body without a length");
        for (long failAt : new long[]{0, 100_000, 3 * MIB}) {
            BackendRequest request = unsized("unsized-aborted", Bodies.failing(3 * MIB, failAt));
            assertThatThrownBy(() -> calls().send(request)).isInstanceOf(BackendException.class);
            assertThat(calls().head("unsized-aborted").status()).isEqualTo(404);
        }
    }

    private BackendRequest unsized(String key, Publisher<ByteBuffer> body) {
        return Requests.put(calls().target(key, null), credential(), NONE,
                new Payload.Stream(body, -1, "UNSIGNED-PAYLOAD", Map.of()));
    }

    @Test
    void aDeclaredSha256IsForwardedAndMustMatch() throws Exception {
        byte[] content = bytes(200_000);
        byte[] sum = MessageDigest.getInstance("SHA-256").digest(content);
        String hex = HexFormat.of().formatHex(sum);
        assertThat(putStream("hashed", content, hex).status()).isEqualTo(200);
        assertThat(putStream("mishashed", bytes(200_001), hex).status()).isEqualTo(400);
        assertThat(calls().head("mishashed").status()).isEqualTo(404);
    }

    private Reply putStream(String key, byte[] content, String sha256) {
        return calls().send(Requests.put(calls().target(key, null), credential(), NONE,
                new Payload.Stream(Bodies.of(content, 10_000), content.length, sha256, Map.of())));
    }

    @Test
    void largeObjectsFlowBothWaysInBoundedMemory() {
        long size = 64 * MIB;
        Bodies.Pattern up = Bodies.pattern(size, 64 * 1024);
        Reply put = calls().send(Requests.put(calls().target("large", null), credential(), NONE,
                new Payload.Stream(up, size, "UNSIGNED-PAYLOAD", Map.of())));
        assertThat(put.status()).isEqualTo(200);
        assertThat(up.mostAheadOfDemand()).isZero();
        Bodies.PatternCheck down = new Bodies.PatternCheck();
        Calls.await(calls().backend()
                .send(
                        Requests.get(calls().target("large", null), credential(), NONE)))
                .body()
                .subscribe(down);
        assertThat(Calls.await(down.received())).isEqualTo(size);
        assertThat(down.mostAheadOfDemand()).isZero();
    }

    @Test
    void theProbeFindsWhatTheStoreCanDo() {
        Capabilities seen = Calls
                .await(calls().backend().probe(calls().bucket(), credential()));
        assertThat(seen).isEqualTo(capabilities());
        assertThat(calls().backend().capabilities()).isEqualTo(seen);
        assertThat(calls().call("GET", "", "list-type=2&prefix=.railhead-probe/", NONE, "").text())
                .doesNotContain("<Contents>");
    }

    @Test
    void theReadingProbeWritesNothing() {
        calls().put("readable", bytes(100));
        try (Backend other = new AwsBackend(new BackendConfig("reading", List.of(endpoint()),
                "us-east-1", null, true, Duration.ofSeconds(5), Duration.ofSeconds(30),
                Duration.ofSeconds(30), 4, 1, BackendConfig.TrailerPolicy.AUTO,
                BackendConfig.Fetches.of(4), null))) {
            Capabilities seen = Calls.await(other.probe(null, credential()));
            assertThat(seen.ranges()).isTrue();
            assertThat(seen.ifMatchOnRangedGet())
                    .isEqualTo(capabilities().ifMatchOnRangedGet());
            assertThat(seen.trailers()).isFalse();
            assertThat(other.stats().bytesOut()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 1048576, 1048577, 3000000})
    void trailersReachAStoreThatTakesThem(long size) {
        Calls.await(calls().backend().probe(calls().bucket(), credential()));
        byte[] content = bytes((int) size);
        CRC32 crc = new CRC32();
        crc.update(content);
        String sum = Base64.getEncoder()
                .encodeToString(ByteBuffer.allocate(4).putInt((int) crc.getValue()).array());
        Headers headers = Headers.builder().add("x-amz-sdk-checksum-algorithm", "CRC32").build();
        Reply put = calls().send(Requests.put(calls().target("trailed", null), credential(),
                headers, new Payload.Stream(Bodies.of(content, 300_000), content.length,
                        "UNSIGNED-PAYLOAD", Map.of("x-amz-checksum-crc32", () -> sum))));
        assertThat(put.status()).isEqualTo(200);
        assertThat(calls().get("trailed").body()).isEqualTo(content);
    }

    private static byte[] bytes(int size) {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        return bytes;
    }
}
