package io.railhead.backend.aws;

import static io.railhead.backend.aws.ScriptedBackend.CREDENTIAL;
import static io.railhead.backend.aws.ScriptedBackend.Options.USUAL;
import static io.railhead.backend.aws.ScriptedBackend.calls;
import static io.railhead.backend.testing.ScriptedStore.Script.status;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.BackendRequest;
import io.railhead.backend.Caller;
import io.railhead.backend.Headers;
import io.railhead.backend.Payload;
import io.railhead.backend.Requests;
import io.railhead.backend.testing.Bodies;
import io.railhead.backend.testing.Calls;
import io.railhead.backend.testing.ScriptedStore;
import io.railhead.backend.testing.ScriptedStore.Received;
import io.railhead.backend.testing.ScriptedStore.Script;
import io.railhead.backend.testing.StoreSignature;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** That a store which verifies what arrived comes to the same signature. */
class SignaturesTest {
    private static final byte[] BODY = new byte[1024 * 1024 + 12_345];
    private static final String SUM = "yZRlqg==";

    static {
        new Random(7).nextBytes(BODY);
    }

    /** Takes trailers, or seems to, but has no ranges. */
    static final Script TRAILING = (request, line) -> {
        String length = request.line().startsWith("HEAD ") ? "24" : "0";
        line.write("HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: " + length + "\r\n\r\n",
                new byte[0]);
    };

    @Test
    void aRangedGetIsSignedWithItsRangeAndItsVersion() {
        Received request = received(calls -> calls.range("k", 5, 10, "\"e\""));
        assertSigned(request);
        assertThat(request.header("Range")).isEqualTo("bytes=5-14");
        assertThat(request.header("If-Match")).isEqualTo("\"e\"");
        assertThat(StoreSignature.signedHeaders(request)).contains("host", "x-amz-date", "range",
                "if-match");
        assertThat(request.header("x-amz-date")).isEqualTo("20261120T120000Z");
        assertThat(request.header("Authorization"))
                .contains("Credential=AKIDEXAMPLE/20261120/eu-test-1/s3/aws4_request");
    }

    @Test
    void aHeadIsSigned() {
        Received request = received(calls -> calls.head("k"));
        assertThat(request.line()).startsWith("HEAD ");
        assertSigned(request);
    }

    @Test
    void aSmallBodyIsSignedByItsHash() {
        Received request = received(calls -> calls.put("k", new byte[]{1, 2, 3}));
        assertSigned(request);
        assertThat(request.header("x-amz-content-sha256"))
                .isEqualTo(StoreSignature.hex(StoreSignature.sha256(request.body())));
    }

    @Test
    void aStreamIsSignedUnderTheHashThatItCameWith() {
        String hash = StoreSignature.hex(StoreSignature.sha256(BODY));
        for (String declared : new String[]{hash, "UNSIGNED-PAYLOAD"}) {
            Received request = received(calls -> calls.send(put(calls, declared, Map.of())));
            assertSigned(request);
            assertThat(request.header("x-amz-content-sha256")).isEqualTo(declared);
            assertThat(request.header("Content-Length")).isEqualTo("" + BODY.length);
            assertThat(request.body()).isEqualTo(BODY);
        }
    }

    @Test
    void aSessionTokenIsSignedToo() {
        Caller.Credential session = new Caller.Credential("AKIDSESSION", "secret", "the/token");
        Received request = received(calls -> calls.as(session).get("k"));
        assertThat(StoreSignature.sent(request))
                .isEqualTo(StoreSignature.expected(request, session));
        assertThat(StoreSignature.signedHeaders(request)).contains("x-amz-security-token");
        assertThat(request.header("x-amz-security-token")).isEqualTo("the/token");
    }

    /** Or the caller could borrow the gateway's rights by naming someone else's. */
    @Test
    void whatTheBackendSetsCannotBeSetByTheRequest() {
        Headers forged = Headers.builder()
                .add("Authorization", "AWS4 forged")
                .add("x-amz-date", "19700101T000000Z")
                .add("X-Amz-Security-Token", "forged")
                .add("Host", "elsewhere")
                .build();
        Received request = received(calls -> calls.call("GET", "k", null, forged, ""));
        assertSigned(request);
        assertThat(String.join("\n", request.headers())).doesNotContain("forged", "elsewhere",
                "1970");
        Received anonymous = received(calls -> calls.as(new Caller.Anonymous())
                .call("GET", "k", null, forged, ""));
        assertThat(anonymous.header("Authorization")).isNull();
        assertThat(anonymous.header("x-amz-security-token")).isNull();
    }

    @Test
    void aTrailerFollowsTheChunksAndIsAnnounced() {
        try (ScriptedStore store = new ScriptedStore(TRAILING);
                AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            Calls calls = calls(backend);
            assertThat(Calls.await(backend.probe("bucket", CREDENTIAL)).trailers()).isTrue();
            calls.send(put(calls, "UNSIGNED-PAYLOAD", Map.of("x-amz-checksum-crc32", SUM)));
            Received request = store.received().getLast();
            assertSigned(request);
            assertThat(request.header("x-amz-content-sha256"))
                    .isEqualTo("STREAMING-UNSIGNED-PAYLOAD-TRAILER");
            assertThat(request.header("x-amz-trailer")).isEqualTo("x-amz-checksum-crc32");
            assertThat(request.header("x-amz-decoded-content-length")).isEqualTo("" + BODY.length);
            assertThat(request.header("Content-Encoding")).isEqualTo("aws-chunked");
            assertThat(StoreSignature.signedHeaders(request)).contains("x-amz-trailer",
                    "x-amz-decoded-content-length", "content-encoding");
            assertThat(decode(request.body())).isEqualTo(BODY);
            assertThat(trailers(request.body())).isEqualTo("x-amz-checksum-crc32:" + SUM + "\r\n");
        }
    }

    /** Sent to a store that does not know them, they would become content. */
    @Test
    void trailersAreDroppedUntilAProbeHasSeenThemTaken() {
        Received request = received(calls -> calls.send(
                put(calls, "UNSIGNED-PAYLOAD", Map.of("x-amz-checksum-crc32", SUM))));
        assertSigned(request);
        assertThat(request.body()).isEqualTo(BODY);
        assertThat(request.header("x-amz-content-sha256")).isEqualTo("UNSIGNED-PAYLOAD");
        for (String name : new String[]{"x-amz-trailer", "x-amz-decoded-content-length",
                "Content-Encoding", "x-amz-sdk-checksum-algorithm"}) {
            assertThat(request.header(name)).as(name).isNull();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"x-amz-checksum-algorithm: CRC32", "x-amz-checksum-sha256: AAAA"})
    void trailersAreSentOnceAnAnswerHasShownAChecksum(String line) {
        Script shown = Script.answer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n" + line,
                new byte[0]);
        try (ScriptedStore store = new ScriptedStore(shown);
                AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            Calls calls = calls(backend);
            calls.call("POST", "k", "uploads", Headers.NONE, "");
            calls.send(put(calls, "UNSIGNED-PAYLOAD", Map.of("x-amz-checksum-crc32", SUM)));
            assertThat(store.received().getLast().header("x-amz-trailer"))
                    .isEqualTo("x-amz-checksum-crc32");
        }
    }

    private static BackendRequest put(Calls calls, String hash,
            Map<String, String> trailers) {
        Map<String, Supplier<String>> suppliers = new TreeMap<>();
        trailers.forEach((name, value) -> suppliers.put(name, () -> value));
        Headers headers = Headers.builder().add("x-amz-sdk-checksum-algorithm", "CRC32").build();
        return Requests.put(calls.target("k", null), CREDENTIAL,
                trailers.isEmpty() ? Headers.NONE : headers, new Payload.Stream(
                        Bodies.of(BODY, 30_000), BODY.length, hash, suppliers));
    }

    private static Received received(Consumer<Calls> call) {
        try (ScriptedStore store = new ScriptedStore(status(200, ""));
                AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            call.accept(calls(backend));
            return store.received().getFirst();
        }
    }

    private static void assertSigned(Received request) {
        assertThat(StoreSignature.sent(request))
                .isEqualTo(StoreSignature.expected(request, CREDENTIAL));
    }

    /** The chunks' content, up to the last chunk. */
    private static byte[] decode(byte[] body) {
        ByteBuffer in = ByteBuffer.wrap(body);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (int size = chunkSize(in); size > 0; size = chunkSize(in)) {
            byte[] chunk = new byte[size];
            in.get(chunk);
            out.writeBytes(chunk);
            assertThat(line(in)).isEmpty();
        }
        return out.toByteArray();
    }

    private static String trailers(byte[] body) {
        String tail = new String(body, body.length - 60, 60, StandardCharsets.ISO_8859_1);
        int last = tail.indexOf("\r\n0\r\n");
        assertThat(tail).endsWith("\r\n\r\n");
        return tail.substring(last + 5, tail.length() - 2);
    }

    private static int chunkSize(ByteBuffer in) {
        return Integer.parseInt(line(in), 16);
    }

    private static String line(ByteBuffer in) {
        StringBuilder line = new StringBuilder();
        for (char c = (char) in.get(); c != '\n'; c = (char) in.get()) {
            line.append(c);
        }
        assertThat(line.toString()).endsWith("\r");
        return line.substring(0, line.length() - 1);
    }
}
