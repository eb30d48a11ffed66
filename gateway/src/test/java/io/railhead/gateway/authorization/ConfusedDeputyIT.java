package io.railhead.gateway.authorization;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.protocol.token.Token;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A token names somebody's memory. Each test is an attempt to have the gateway write into, or read,
 * memory that the caller has no right to: no byte may move, and the refusal says why.
 */
class ConfusedDeputyIT {
    private static final int BUFFER = 1 << 20;
    private static final int MARK = 0x5a;

    private final byte[] object = "an object that nobody asked for".repeat(1000).getBytes();
    /** Of the time when the test is made, since the gateway starts before the set-up below. */
    private final Instant beforeStart = Instant.now().minusSeconds(1);
    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            rdma:
              dialects: {rdma_info: on, cuobj: on}
            """).principals("""
            principals:
              - name: victim
                tenant: first
                keys: [{access_key: AK, secret_key: SK}]
                rdma_put: true
              - name: attacker
                tenant: second
                keys: [{access_key: OTHER, secret_key: other-secret}]
                rdma_put: true
            """);
    private final TestClient victim = gateway.client();
    private final TestClient attacker = gateway.client("OTHER", "other-secret");
    private TestPeer memory;

    @BeforeEach
    void start() {
        memory = gateway.closing(new TestPeer(victim, "SK", BUFFER));
        memory.fill(MARK);
        store.put("/b/object", object);
    }

    @AfterEach
    void stop() {
        assertThat(memory.isAll(MARK)).as("no byte was written").isTrue();
        assertThat(store.count("PUT")).as("no byte was read").isZero();
    }

    private static void assertRefused(HttpResponse<byte[]> answer, String code) {
        assertThat(new String(answer.body())).contains("<Code>" + code + "</Code>");
        assertThat(answer.statusCode()).isEqualTo(403);
        assertThat(answer.headers().firstValue("x-amz-rdma-reply")).isEmpty();
    }

    private static HttpResponse<byte[]> send(HttpRequest request) throws Exception {
        return HttpClient.newHttpClient().send(request, BodyHandlers.ofByteArray());
    }

    private static HttpRequest with(HttpRequest signed, String name, String value) {
        return HttpRequest.newBuilder(signed, (header, ignored) -> !header.equalsIgnoreCase(name))
                .header(name, value)
                .build();
    }

    @ParameterizedTest
    @ValueSource(strings = {"x-amz-rdma-token", "x-rdma-info", "x-cuobj-rdma-descr"})
    void aTokenThatIsAddedToASignedRequest(String header) throws Exception {
        HttpRequest signed = victim.signed("GET", "/b/object", new byte[0]);
        assertRefused(send(with(signed, header, memory.token(0, BUFFER).format())),
                "RDMATokenNotSigned");
    }

    @Test
    void anotherPartOfTheWindowThanTheSignedOne() throws Exception {
        HttpRequest signed = victim.signed("GET", "/b/object", new byte[0], "x-cuobj-rdma-descr",
                memory.token(0, BUFFER).format());
        assertRefused(send(with(signed, "x-cuobj-content-length", "100")),
                "RDMATokenNotSigned");
    }

    @ParameterizedTest
    @ValueSource(strings = {"x-amz-rdma-token", "x-rdma-info", "x-cuobj-rdma-descr"})
    void aTokenThatIsPutInPlaceOfTheSignedOne(String header) throws Exception {
        HttpRequest signed = attacker.signed("GET", "/b/object", new byte[0], header,
                Token.loopback(4096, 4096, 1, 1).format());
        assertRefused(send(with(signed, header, memory.token(0, BUFFER).format())),
                "SignatureDoesNotMatch");
    }

    @Test
    void aTokenOnAPresignedAddress() throws Exception {
        URI address = victim.presigned("GET", "/b/object", Duration.ofMinutes(5));
        HttpRequest request = HttpRequest.newBuilder(address)
                .header("x-amz-rdma-token", memory.token(0, BUFFER).format())
                .build();
        assertRefused(send(request), "RDMATokenNotSigned");
        HttpRequest alias = HttpRequest.newBuilder(address)
                .header("x-rdma-info", memory.token(0, BUFFER).format())
                .build();
        assertRefused(send(alias), "RDMATokenNotSigned");
    }

    @Test
    void aTokenOnARequestThatNobodySigned() throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(gateway.endpoint() + "/b/object"))
                .header("x-amz-rdma-token", memory.token(0, BUFFER).format())
                .build();
        assertRefused(send(request), "RDMATokenNotSigned");
    }

    @ParameterizedTest
    @ValueSource(longs = {-120, 120})
    void aSignatureOfAnotherTime(long seconds) {
        Clock clock = Clock.offset(Clock.systemUTC(), Duration.ofSeconds(seconds));
        assertRefused(victim.at(clock).get("/b/object", memory.headers(0, BUFFER)),
                "RDMATokenStale");
    }

    @Test
    void aRequestOfBeforeTheStart() {
        Clock clock = Clock.fixed(beforeStart, ZoneOffset.UTC);
        assertRefused(victim.at(clock).get("/b/object", memory.headers(0, BUFFER)),
                "RDMATokenStale");
        assertRefused(victim.at(clock).put("/b/up", new byte[0], memory.headers(0, BUFFER)),
                "RDMATokenStale");
    }

    @Test
    void aRequestThatIsStillInProgressSentAgain() throws Exception {
        CountDownLatch reached = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        store.fault((exchange, bytes) -> {
            reached.countDown();
            TestGateway.await(release);
            return false;
        });
        HttpRequest once = victim.signed("GET", "/b/object", new byte[0],
                memory.headers(0, BUFFER));
        CompletableFuture<HttpResponse<byte[]>> first = HttpClient.newHttpClient()
                .sendAsync(once, BodyHandlers.ofByteArray());
        reached.await();
        assertRefused(send(once), "RDMATokenReplayed");
        assertThat(memory.isAll(MARK)).isTrue();
        release.countDown();
        assertThat(first.get().headers().firstValue("x-amz-rdma-reply")).contains("200");
        memory.fill(MARK);
        assertRefused(send(once), "RDMATokenReplayed");
    }

    @Test
    void anotherPrincipalsMemoryByItsOwnSessionsNumber() {
        assertRefused(attacker.get("/b/object", memory.headers(0, BUFFER)), "RDMAForeignSession");
        assertRefused(attacker.put("/b/stolen", new byte[0], memory.headers(0, BUFFER)),
                "RDMAForeignSession");
    }

    @Test
    void keysTriedOneAfterAnother() {
        try (TestPeer own = new TestPeer(attacker, "other-secret", 4096)) {
            Token token = own.token(0, 4096);
            for (int i = 1; i <= 5; i++) {
                assertRefused(
                        attacker.get("/b/object",
                                TestPeer.headers(new Token(token.address(), 4096, token.key() + i,
                                        0, token.session(), token.gid()))),
                        "RDMAUnknownKey");
            }
            HttpResponse<byte[]> suspended = attacker.get("/b/object", own.headers(0, 4096));
            assertThat(suspended.headers().firstValue("x-railhead-rdma-declined"))
                    .contains("suspended");
            assertThat(suspended.body()).isEqualTo(object);
            assertThat(attacker.send("POST", "/.railhead/sessions?fabric=loopback", new byte[0])
                    .statusCode()).isEqualTo(503);
        }
        HttpResponse<byte[]> others = victim.get("/b/object", memory.headers(0, BUFFER));
        assertThat(others.headers().firstValue("x-amz-rdma-reply")).contains("200");
        memory.fill(MARK);
    }

    @Test
    void aMachinesMemoryThatNeverConnected() {
        String token = "0102030405060708:01020304:01020304:0000:010203:1:"
                + "00000000000000000000ffff0a630002";
        HttpResponse<byte[]> declined = attacker.get("/b/object", "x-amz-rdma-token", token);
        assertThat(declined.headers().firstValue("x-railhead-rdma-declined")).contains("fabric");
        assertThat(declined.body()).isEqualTo(object);
        HttpResponse<byte[]> upload = attacker.put("/b/stolen", new byte[0], "x-amz-rdma-token",
                token, "x-railhead-request-id", UUID.randomUUID().toString());
        assertThat(upload.statusCode()).isEqualTo(501);
    }
}
