package io.railhead.gateway.frontdoor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.s3.sigv4.HandSigned;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests whose end two readers could see in different places: refused, never forwarded. */
class HttpFramingIT {
    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            gateway:
              header_timeout: 2s
            """);
    private final TestClient client = gateway.client();

    @BeforeEach
    void start() {
        store.put("/b/key", new byte[10]);
        store.put("/b/smuggled", new byte[10]);
    }

    private static final String SMUGGLED = "GET /b/smuggled HTTP/1.1\r\nHost: h\r\n\r\n";

    static Stream<String> ambiguous() {
        return Stream.of(
                "POST /b/key HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                "POST /b/key HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
                "PUT /b/key HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                "PUT /b/key HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
                "PUT /b/key HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                "PUT /b/key HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
                "POST /b/key HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
                "POST /b/key HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
                "POST /b/key HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
                "POST /b/key HTTP/1.1\r\nHost: h\r\nTransfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
                "POST /b/key HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                "POST /b/key HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n",
                "POST /b/key HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n",
                "POST /b/key HTTP/1.1\r\nHost: h\r\nContent-Length: 0, 5\r\n\r\n",
                "POST /b/key HTTP/1.1\r\nHost: h\r\nContent-Length: +0\r\n\r\n",
                "POST /b/key HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n",
                "POST /b/key HTTP/1.1\r\nHost: h\r\nContent-Length : 0\r\n\r\n",
                "POST /b/key HTTP/1.1\r\nHost: h\r\n Content-Length: 0\r\n\r\n",
                "GET /b/key HTTP/1.1\r\nHost: h\r\nHost: other\r\n\r\n",
                "GET /b/key HTTP/1.1\r\n\r\n",
                "GET /b/key HTTP/1.1\nHost: h\n\n",
                "GET /b/key HTTP/1.1\r\nHost: h\nX-A: b\r\n\r\n",
                "GET /b/key HTTP/1.1\r\nHost: h\r\nX-A: a\rb\r\n\r\n",
                "GET /b/key HTTP/1.1\r\nHost: h\r\nX-A: a\0b\r\n\r\n",
                "GET /b/key HTTP/1.1\r\nHost: h\r\nX A: b\r\n\r\n",
                "GET /b/key\r\n\r\n",
                "NOT HTTP\r\n\r\n");
    }

    @ParameterizedTest
    @MethodSource("ambiguous")
    void anAmbiguousHeadIsRefusedAndEndsTheConnection(String request) {
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send(request + SMUGGLED);
            RawConnection.Answer answer = raw.receive();
            assertThat(answer.status()).isEqualTo(400);
            assertThat(answer.headers()).containsKey("x-amz-request-id")
                    .containsEntry("content-type", "application/xml");
            assertThat(answer.body()).contains("<Error>");
            assertThat(raw.isClosedByPeer()).isTrue();
        }
        assertNothingForwarded();
    }

    @Test
    void nothingBehindAnAmbiguousHeadIsEverServed() {
        for (int i = 0; i < 200; i++) {
            try (RawConnection raw = new RawConnection(gateway.endpoint())) {
                raw.send(
                        "POST /b/key HTTP/1.1\r\nHost: h\r\n Content-Length: 0\r\n\r\n" + SMUGGLED);
                assertThat(raw.receive().status()).isEqualTo(400);
                assertThat(raw.isClosedByPeer()).isTrue();
            }
        }
        assertNothingForwarded();
    }

    /** Read with 32 bits they would be 5. Where the next request begins, nobody knows. */
    @ParameterizedTest
    @ValueSource(strings = {"100000005", "10000000000000005", "80000000"})
    void aChunkLongerThanAnyNumberHidesNothing(String length) {
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send(new HandSigned("PUT", "/b/key", "").payload("UNSIGNED-PAYLOAD")
                    .header("transfer-encoding", "chunked")
                    .head() + length + "\r\nhello\r\n0\r\n\r\n" + SMUGGLED);
            assertThatThrownBy(raw::receive).hasMessageContaining("closed after ''");
        }
        assertThat(store.requests()).noneMatch(request -> request.contains("smuggled"));
    }

    private void assertNothingForwarded() {
        assertThat(store.requests()).noneMatch(request -> request.contains(" /b/"));
    }

    @Test
    void anOversizedHeaderIsRefused() {
        refused("GET /b/key HTTP/1.1\r\nHost: h\r\nX-Large: " + "x".repeat(70 << 10) + "\r\n\r\n",
                "RequestHeaderSectionTooLarge");
        refused("GET /b/key HTTP/1.1\r\nHost: h\r\n" + "X-Many: 0123456789abcdef\r\n".repeat(4000)
                + "\r\n", "RequestHeaderSectionTooLarge");
    }

    @Test
    void anOverlongTargetIsRefused() {
        refused("GET /b/" + "k".repeat(20 << 10) + " HTTP/1.1\r\nHost: h\r\n\r\n", "InvalidURI");
    }

    private void refused(String request, String code) {
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            RawConnection.Answer answer = raw
                    .sendWhilePossible(
                            request.getBytes(StandardCharsets.ISO_8859_1))
                    .receive();
            assertThat(answer.status()).isEqualTo(400);
            assertThat(answer.headers()).containsKey("x-amz-request-id");
            assertThat(answer.body()).contains("<Code>" + code + "</Code>");
            assertThat(raw.isClosedByPeer()).isTrue();
        }
        assertNothingForwarded();
    }

    @Test
    void aHeadThatDoesNotEndInTimeClosesTheConnection() {
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send(RawConnection.head(client.signed("GET", "/b/key", new byte[0])) + "\r\n");
            assertThat(raw.receive().status()).isEqualTo(200);
            raw.send("GET /b/key HTTP/1.1\r\nHo");
            assertThat(raw.isClosedByPeer()).isTrue();
        }
        assertThat(gateway.metric("railhead_closed_connections_total{reason=\"slow_head\",}"))
                .isEqualTo(1);
    }

    @Test
    void aTargetThatIsNoPathIsRefused() {
        for (String target : List.of("b/key", "http://u@other/b/key", "*", "/%zz/key")) {
            try (RawConnection raw = new RawConnection(gateway.endpoint())) {
                raw.send("GET " + target + " HTTP/1.1\r\nHost: h\r\n\r\n");
                assertThat(raw.receive().status()).as(target).isEqualTo(400);
            }
        }
        assertNothingForwarded();
    }

    @Test
    void bytesBeyondAsciiInATargetAreAKeysUtf8() {
        store.put("/b/%C3%A9", "accented".getBytes(StandardCharsets.UTF_8));
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send("GET /b/\u00c3\u00a9 HTTP/1.1\r\nHost: h\r\n\r\n");
            assertThat(raw.receive().body()).isEqualTo("accented");
        }
    }

    @Test
    void manyHeadersAreServed() {
        String[] more = IntStream.range(0, 400)
                .mapToObj(i -> "X-Test-" + i + ": value " + i)
                .toArray(String[]::new);
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send(
                    RawConnection.head(client.signed("GET", "/b/key", new byte[0]), more) + "\r\n");
            RawConnection.Answer answer = raw.receive();
            assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 5_000, 300_000})
    void aBodyThatNobodyWantsIsNotTheNextRequest(int bytes) {
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            byte[] body = SMUGGLED.repeat(bytes / SMUGGLED.length() + 1)
                    .substring(0, bytes)
                    .getBytes(StandardCharsets.ISO_8859_1);
            String head = RawConnection.head(client.signed("GET", "/b/key", body),
                    "Content-Length: " + bytes);
            for (int round = 0; round < 3; round++) {
                assertThat(raw.send(head + "\r\n").send(body).receive().status()).isEqualTo(200);
            }
        }
        assertThat(store.count("GET /b/smuggled")).isZero();
    }

    @Test
    void aRefusedBodyIsNotTheNextRequest() {
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            String body = SMUGGLED.repeat(1000);
            raw.send("PUT /b/key HTTP/1.1\r\nHost: h\r\nAuthorization: nonsense\r\nContent-Length: "
                    + body.length() + "\r\n\r\n" + body);
            assertThat(raw.receive().status()).isEqualTo(400);
            raw.send(RawConnection.head(client.signed("GET", "/b/key", new byte[0])) + "\r\n");
            assertThat(raw.receive().status()).isEqualTo(200);
        }
        assertThat(store.count("GET /b/smuggled")).isZero();
    }

    @Test
    void aRefusedBodyWithoutEndEndsTheConnection() {
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send("PUT /b/key HTTP/1.1\r\nHost: h\r\nAuthorization: nonsense\r\nContent-Length: "
                    + (1L << 40) + "\r\n\r\n");
            assertThat(raw.receive().status()).isEqualTo(400);
            raw.sendWhilePossible(new byte[17 << 20]);
            assertThat(raw.isClosedByPeer()).isTrue();
        }
        assertThat(gateway.metric("railhead_closed_connections_total{reason=\"long_body\",}"))
                .isEqualTo(1);
        assertNothingForwarded();
    }

    @Test
    void everyAnswerCarriesARequestIdOfItsOwn() {
        assertThat(Stream.of(client.get("/b/key"), client.get("/b/key"), client.head("/b/key"),
                client.get("/b/none"), client.get("/b"), client.anonymous("GET", "/b/key"),
                client.put("/b/put", new byte[3]), client.delete("/b/put"),
                client.send("POST", "/.railhead/sessions?fabric=loopback", new byte[0]),
                client.send("POST", "/.railhead/none", new byte[0]))
                .map(answer -> answer.headers()
                        .firstValue("x-amz-request-id")
                        .orElseThrow()
                        .toLowerCase(Locale.ROOT)))
                .doesNotHaveDuplicates()
                .allMatch(id -> id.matches("[0-9a-f]{16}"));
    }
}
