package io.railhead.gateway.object.write;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.gateway.frontdoor.RawConnection;
import io.railhead.gateway.s3.sigv4.HandSigned;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Writes that cannot have happened: their body never came to its end, or the store refused. Nobody
 * loses by them what is held, least of all another principal.
 */
@SuppressWarnings("StringConcatToTextBlock") // its lines end in CR LF
class FutileWritesIT {
    private static final String KEY = "/held/key";
    private static final byte[] OBJECT = new byte[300_000];
    private static final byte[] BODY = "hello, railhead".getBytes(ISO_8859_1);
    private static final String WRONG = "AAAAAQ==";

    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            rules:
              - bucket: held
                freshness: immutable
                shared: true
            """).principals("""
            principals:
              - name: writer
                keys: [{access_key: AK, secret_key: SK}]
                rdma_put: true
              - name: reader
                keys: [{access_key: READER, secret_key: reader-secret}]
            """);
    private final TestClient writer = gateway.client();
    private final TestClient reader = gateway.client("READER", "reader-secret");

    @BeforeEach
    void holdTheObject() {
        store.put(KEY, OBJECT);
        TestGateway.await(this::isServedAsHeld);
    }

    /** Whether it may still be read is asked once, and none of it comes again. */
    @AfterEach
    void isHeldStill() {
        TestGateway.await(() -> gateway.metric("railhead_requests_in_flight") == 0);
        int before = store.requests().size();
        isServedAsHeld();
        assertThat(store.requestsAfter(before)).allMatch(request -> request.startsWith("HEAD"));
        int after = store.requests().size();
        assertThat(isServedAsHeld()).isTrue();
        assertThat(store.requestsAfter(after)).isEmpty();
    }

    private boolean isServedAsHeld() {
        var answer = reader.get(KEY);
        assertThat(answer.body()).isEqualTo(OBJECT);
        return answer.headers().firstValue("x-cache").orElseThrow().equals("HIT");
    }

    @Test
    void aBodyThatIsNotWhatWasDeclared() {
        assertThat(writer.send("PUT", KEY, BODY, "x-amz-checksum-crc32", WRONG).statusCode())
                .isEqualTo(400);
    }

    @Test
    void oneWithoutBytesWhoseFramingIsBroken() {
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send(new HandSigned("PUT", KEY, "").payload("STREAMING-UNSIGNED-PAYLOAD-TRAILER")
                    .header("x-amz-decoded-content-length", "0")
                    .header("content-length", "5")
                    .head() + "xxxxx");
            assertThat(raw.receive().status()).isEqualTo(400);
        }
    }

    @Test
    void aBodyThatBreaksOff() {
        byte[] body = new byte[1_000_000];
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send(RawConnection.head(writer.signed("PUT", KEY, body),
                    "Content-Length: " + body.length) + "\r\n");
            raw.send(new byte[400_000]);
            TestGateway.await(() -> store.count("PUT " + KEY) > 0);
            raw.reset();
        }
    }

    @Test
    void aWriteThatTheStoreRefuses() {
        store.deny("AK");
        assertThat(writer.put(KEY, BODY).statusCode()).isEqualTo(403);
    }

    @Test
    void memoryThatDoesNotHoldWhatWasDeclared() {
        try (TestPeer peer = new TestPeer(writer, "SK", BODY.length)) {
            peer.set(0, BODY);
            assertThat(writer.send("PUT", KEY, new byte[0],
                    peer.headers(0, BODY.length, "x-amz-checksum-crc32", WRONG)).statusCode())
                    .isEqualTo(400);
        }
    }

    /** Whose key, the form alone says: nothing of the bucket would be served without asking. */
    @Test
    void aFormThatBreaksOff() {
        String form = "--end\r\nContent-Disposition: form-data; name=\"key\"\r\n\r\nkey\r\n"
                + "--end\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n";
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send("POST /held HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n"
                    + "Content-Type: multipart/form-data; boundary=end\r\n\r\n" + form);
            raw.send(new byte[400_000]);
            TestGateway.await(() -> store.count("POST /held") > 0);
            raw.reset();
        }
    }
}
