package io.railhead.gateway.object.write;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.testing.ScriptedStore;
import io.railhead.backend.testing.ScriptedStore.Script;
import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.frontdoor.RawConnection;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Uploads that are not what they said: nothing is committed, and the connection stays sane. */
@SuppressWarnings("StringConcatToTextBlock") // its lines end in CR LF
class UploadsIT {
    private static final byte[] BODY = "hello, railhead".getBytes(StandardCharsets.US_ASCII);

    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store);
    private final TestClient client = gateway.client();

    @BeforeEach
    void start() {
        store.put("/b/key", new byte[10]);
    }

    private String head(String path, byte[] body, String... lines) {
        return RawConnection.head(client.signed("PUT", path, body), lines) + "\r\n";
    }

    private void assertServes(RawConnection raw) {
        raw.send(RawConnection.head(client.signed("GET", "/b/key", new byte[0])) + "\r\n");
        assertThat(raw.receive().status()).isEqualTo(200);
    }

    @Test
    void aBodyThatEndsTooSoonCommitsNothing() {
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            byte[] body = new byte[1_000_000];
            raw.send(head("/b/short", body, "Content-Length: " + body.length));
            raw.send(new byte[400_000]);
            TestGateway.await(() -> store.count("PUT /b/short") > 0);
            raw.reset();
        }
        assertCommittedNothing("/b/short");
    }

    private void assertCommittedNothing(String path) {
        TestGateway.await(() -> gateway.metric("railhead_requests_in_flight") == 0);
        assertThat(store.object(path)).isNull();
    }

    @Test
    void aClientThatLeavesAfterItsHeadCommitsNothing() {
        for (int round = 0; round < 20; round++) {
            try (RawConnection raw = new RawConnection(gateway.endpoint())) {
                raw.send(head("/b/left", BODY, "Content-Length: " + BODY.length));
                raw.reset();
            }
        }
        assertCommittedNothing("/b/left");
    }

    @Test
    void whatFollowsTheDeclaredBodyIsNoPartOfIt() {
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send(head("/b/long", BODY, "Content-Length: " + BODY.length)).send(BODY);
            raw.send("and this is more\r\n\r\n");
            assertThat(raw.receive().status()).isEqualTo(200);
            assertThat(raw.receive().status()).isEqualTo(400);
            assertThat(raw.isClosedByPeer()).isTrue();
        }
        assertThat(store.object("/b/long")).isEqualTo(BODY);
    }

    @Test
    void anUploadIsAskedForOnlyIfItMayGoOn() {
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send(head("/b/expected", BODY, "Content-Length: " + BODY.length,
                    "Expect: 100-continue"));
            assertThat(raw.receive().status()).isEqualTo(100);
            assertThat(raw.send(BODY).receive().status()).isEqualTo(200);
            assertServes(raw);
        }
        assertThat(store.object("/b/expected")).isEqualTo(BODY);
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send(head("/b/refused", BODY, "Content-Length: " + BODY.length,
                    "Expect: 100-continue").replace("Signature=", "Signature=00"));
            assertThat(raw.receive().status()).isBetween(400, 403);
            assertThat(raw.isClosedByPeer()).isTrue();
        }
        assertThat(store.count("PUT /b/refused")).isZero();
    }

    /** As botocore asks with a stream that turns out to have none. */
    @Test
    void whoAsksFirstAndHasNoBytesKeepsItsConnection() {
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            for (int i = 0; i < 100; i++) {
                raw.send(head("/b/none", new byte[0], "Content-Length: 0",
                        "Expect: 100-continue"));
                assertThat(raw.receive().status()).isEqualTo(200);
            }
            assertServes(raw);
        }
        assertThat(store.object("/b/none")).isEmpty();
    }

    @Test
    void aRefusedUploadIsAnsweredWhileItsBodyIsStillOnItsWay() {
        store.deny("AK");
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            byte[] body = new byte[8 << 20];
            raw.send(head("/b/denied", body, "Content-Length: " + body.length)
                    .replace("Signature=", "Signature=00"));
            raw.send(body);
            assertThat(raw.receive().status()).isBetween(400, 403);
        }
        assertThat(store.count("PUT /b/denied")).isZero();
    }

    private static String crc32(byte[] bytes) {
        CRC32 crc = new CRC32();
        crc.update(bytes);
        return Base64.getEncoder()
                .encodeToString(ByteBuffer.allocate(4).putInt((int) crc.getValue()).array());
    }

    private static String chunked(String head, String framed) {
        return "PUT /b/chunked HTTP/1.1\r\nHost: h\r\nContent-Encoding: aws-chunked\r\n"
                + "x-amz-content-sha256: STREAMING-UNSIGNED-PAYLOAD-TRAILER\r\n"
                + "x-amz-trailer: x-amz-checksum-crc32\r\n" + head + "Content-Length: "
                + framed.length() + "\r\n\r\n" + framed;
    }

    private static String framed(String size, String checksum) {
        return size + "\r\n" + new String(BODY, StandardCharsets.US_ASCII)
                + "\r\n0\r\nx-amz-checksum-crc32:" + checksum + "\r\n\r\n";
    }

    static Stream<String> brokenFramings() {
        String length = "x-amz-decoded-content-length: " + BODY.length + "\r\n";
        String crc = crc32(BODY);
        return Stream.of(
                chunked(length, framed("f", "AAAAAA==")),
                chunked(length, framed("e", crc)),
                chunked(length, framed("10", crc)),
                chunked(length, framed("xyz", crc)),
                chunked(length, framed("ffffffffffffffff", crc)),
                chunked(length, framed("f;chunk-signature=00", crc).substring(0, 30)),
                chunked("x-amz-decoded-content-length: 14\r\n", framed("f", crc)),
                chunked("x-amz-decoded-content-length: 16\r\n", framed("f", crc)),
                chunked("x-amz-decoded-content-length: x\r\n", framed("f", crc)),
                chunked("", framed("f", crc)),
                chunked(length, framed("f", crc).replace("x-amz-checksum-crc32", "x-amz-other")));
    }

    @ParameterizedTest
    @MethodSource("brokenFramings")
    void aBrokenFramingCommitsNothing(String request) {
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            RawConnection.Answer answer = raw.send(request).receive();
            assertThat(answer.status()).as(answer.body()).isIn(400, 411);
            assertServes(raw);
        }
        assertCommittedNothing("/b/chunked");
    }

    /** Nothing of a body without bytes could be held back, so its end comes first. */
    @ParameterizedTest
    @ValueSource(strings = {"0\r\nx-amz-checksum-crc32:AAAAAQ==\r\n\r\n", "0\r\n\r\n",
            "1\r\nx\r\n0\r\n\r\n"})
    void anEmptyBodyThatIsNotWhatItDeclaredReplacesNothing(String framing) {
        store.put("/b/chunked", BODY);
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            RawConnection.Answer answer = raw
                    .send(chunked("x-amz-decoded-content-length: 0\r\n", framing))
                    .receive();
            assertThat(answer.status()).as(answer.body()).isEqualTo(400);
            assertServes(raw);
        }
        assertThat(store.object("/b/chunked")).isEqualTo(BODY);
        assertThat(store.count("PUT")).isZero();
    }

    @Test
    void aTransferEncodingWithABadChunkCommitsNothing() {
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send("PUT /b/bad HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n"
                    + "x-amz-content-sha256: STREAMING-UNSIGNED-PAYLOAD-TRAILER\r\n"
                    + "x-amz-decoded-content-length: 15\r\n\r\nzz\r\nhello\r\n0\r\n\r\n");
            assertThat(raw.isClosedByPeer()).isTrue();
        }
        assertCommittedNothing("/b/bad");
    }

    @Test
    void aGoodFramingIsStoredWithoutIt() {
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            RawConnection.Answer answer = raw.send(chunked(
                    "x-amz-decoded-content-length: " + BODY.length + "\r\n",
                    framed("f", crc32(BODY)))).receive();
            assertThat(answer.status()).as(answer.body()).isEqualTo(200);
            String empty = "0\r\nx-amz-checksum-crc32:" + crc32(new byte[0]) + "\r\n\r\n";
            assertThat(store.object("/b/chunked")).isEqualTo(BODY);
            answer = raw.send(chunked("x-amz-decoded-content-length: 0\r\n", empty)).receive();
            assertThat(answer.status()).as(answer.body()).isEqualTo(200);
            assertServes(raw);
        }
        assertThat(store.object("/b/chunked")).isEmpty();
    }

    @Test
    void aClientThatWaitsIsNotAskedForABodyThatTheStoreRefuses() {
        try (ScriptedStore refusing = new ScriptedStore(Script.beforeBody(
                Script.status(403, "denied")));
                TestGateway before = TestGateway.over(refusing).start();
                RawConnection raw = new RawConnection(before.endpoint())) {
            raw.send("PUT /b/key HTTP/1.1\r\nHost: h\r\nContent-Length: 123\r\n"
                    + "Expect: 100-continue\r\n\r\n");
            assertThat(raw.receive().status()).isEqualTo(403);
        }
    }

    @Test
    void aBodyWhoseLengthNobodySaidIsStored() {
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send(head("/b/unsized", BODY, "Transfer-Encoding: chunked"));
            raw.send("5\r\nhello\r\n");
            raw.send("a\r\n, railhead\r\n0\r\n\r\n");
            assertThat(raw.receive().status()).isEqualTo(200);
            assertServes(raw);
        }
        assertThat(store.object("/b/unsized")).isEqualTo(BODY);
    }

    @Test
    void aBodyOfNoBytesWhoseLengthNobodySaidIsStored() {
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send(head("/b/none", new byte[0], "Transfer-Encoding: chunked") + "0\r\n\r\n");
            assertThat(raw.receive().status()).isEqualTo(200);
        }
        assertThat(store.object("/b/none")).isEmpty();
    }

    @Test
    void aBodyWhoseLengthNobodySaidMustBeWhatWasSigned() {
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send(head("/b/unsized", BODY, "Transfer-Encoding: chunked")
                    + "5\r\nhello\r\n0\r\n\r\n");
            assertThat(raw.receive().status()).isEqualTo(400);
        }
        assertCommittedNothing("/b/unsized");
    }

    @Test
    void aBodyWhoseLengthNobodySaidAndThatBreaksOffCommitsNothing() {
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send(head("/b/unsized", BODY, "Transfer-Encoding: chunked")
                    + "5\r\nhello\r\na\r\n, railhead\r\n");
            TestGateway.await(() -> store.count("PUT /b/unsized") > 0);
            raw.reset();
        }
        assertCommittedNothing("/b/unsized");
    }

    @Test
    void aListOfDeletionsHasALength() {
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send("POST /b?delete HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
            assertThat(raw.receive().status()).isEqualTo(411);
        }
        assertThat(client.send("POST", "/b?delete", new byte[0]).statusCode()).isEqualTo(400);
    }

    @Test
    void anUploadWhoseStoreGoesSilentWithoutAnAnswerForgetsTheObject() {
        client.get("/b/key");
        store.fault((exchange, bytes) -> {
            if (exchange.getRequestMethod().equals("PUT")) {
                store.put("/b/key", bytes);
                exchange.close();
                return true;
            }
            return false;
        });
        assertThat(client.put("/b/key", BODY).statusCode()).isEqualTo(503);
        assertThat(client.get("/b/key").body()).isEqualTo(BODY);
    }

    @Test
    void aWriteThatOvertakesADiscoveryIsReadAfterwards() throws Exception {
        CountDownLatch reached = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        byte[] before = new byte[3_000_000];
        store.put("/b/raced", before);
        store.fault((exchange, bytes) -> {
            if (exchange.getRequestMethod().equals("GET") && reached.getCount() > 0) {
                reached.countDown();
                TestGateway.await(release);
            }
            return false;
        });
        var early = client.sendAsync("GET", "/b/raced", new byte[0]);
        reached.await();
        assertThat(client.put("/b/raced", BODY).statusCode()).isEqualTo(200);
        var joined = client.sendAsync("GET", "/b/raced", new byte[0]);
        release.countDown();
        assertThat(early.join().body()).isIn(before, BODY);
        assertThat(joined.join().body()).isEqualTo(BODY);
        assertThat(client.get("/b/raced").body()).isEqualTo(BODY);
    }
}
