package io.railhead.gateway.object.passthrough;

import static io.railhead.gateway.RandomBytes.random;
import static io.railhead.gateway.TestClient.cached;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.backend.Caller;
import io.railhead.backend.testing.MinioProcess;
import io.railhead.backend.testing.S3ProxyProcess;
import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.protocol.token.Token;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients whose signatures only the store verifies. */
class PassThroughIT {
    private static final int PAGE = 64 << 10;
    private static final byte[] OBJECT = random(10 * PAGE + 123);

    private static final String CONFIG = """
            gateway:
              authentication: pass_through
            cache:
              page: 64KiB
              run: 256KiB
              window: 512KiB
            """;

    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store)
            .config(CONFIG)
            .principals("not read");

    private static String md5(byte[] document) {
        String hex = FakeStore.etag(document).replace("\"", "");
        return Base64.getEncoder().encodeToString(HexFormat.of().parseHex(hex));
    }

    private TestClient alice() {
        return gateway.client("ALICE", "alice-secret");
    }

    private static void assertRange(HttpResponse<byte[]> answer, int from, int to) {
        assertThat(answer.statusCode()).isEqualTo(206);
        assertThat(answer.headers().firstValue("content-range"))
                .contains("bytes " + from + "-" + (to - 1) + "/" + OBJECT.length);
        assertThat(answer.body()).isEqualTo(Arrays.copyOfRange(OBJECT, from, to));
    }

    @Test
    void aWholeObjectIsKeptOnItsWayAndServedOnceTheStoreAgrees() {
        store.put("/b/key", OBJECT);
        HttpResponse<byte[]> cold = alice().get("/b/key");
        assertThat(cold.body()).isEqualTo(OBJECT);
        assertThat(cached(cold)).isEqualTo("MISS");
        HttpResponse<byte[]> held = alice().get("/b/key");
        assertThat(held.body()).isEqualTo(OBJECT);
        assertThat(cached(held)).isEqualTo("REVALIDATED");
        assertRange(alice().get("/b/key", "Range", "bytes=7-99999"), 7, 100_000);
        assertRange(alice().get("/b/key", "Range", "bytes=-100"), OBJECT.length - 100,
                OBJECT.length);
        assertThat(store.requests()).filteredOn(line -> line.contains("/b/key")).hasSize(4);
        assertThat(gateway.metric("railhead_revalidations_total{result=\"found\",}")).isEqualTo(3);
    }

    @Test
    void onlyWholePagesOfARangeAreKept() {
        store.put("/b/key", OBJECT);
        alice().get("/b/key", "Range", "bytes=100-" + (5 * PAGE - 1));
        HttpResponse<byte[]> inside = alice().get("/b/key", "Range",
                "bytes=" + PAGE + "-" + (5 * PAGE - 1));
        assertThat(cached(inside)).isEqualTo("REVALIDATED");
        assertRange(inside, PAGE, 5 * PAGE);
        HttpResponse<byte[]> before = alice().get("/b/key", "Range", "bytes=99-" + (2 * PAGE));
        assertThat(cached(before)).isEqualTo("MISS");
        assertRange(before, 99, 2 * PAGE + 1);
        HttpResponse<byte[]> end = alice().get("/b/key", "Range", "bytes=" + 9 * PAGE + "-");
        assertThat(cached(end)).isEqualTo("MISS");
        assertThat(cached(alice().get("/b/key", "Range", "bytes=" + 9 * PAGE + "-")))
                .isEqualTo("REVALIDATED");
    }

    @Test
    void whoTheStoreRefusesGetsNothingOfWhatIsHeld() {
        store.put("/b/key", OBJECT);
        alice().get("/b/key");
        TestClient bob = gateway.client("BOB", "bob-secret");
        store.deny("BOB");
        store.deny("");
        assertThat(bob.get("/b/key").statusCode()).isEqualTo(403);
        assertThat(bob.anonymous("GET", "/b/key").statusCode()).isEqualTo(403);
        assertThat(cached(alice().get("/b/key"))).isEqualTo("REVALIDATED");
    }

    @Test
    void aChangedObjectAndADeletedOneAreSeenAtOnce() {
        store.put("/b/key", OBJECT);
        alice().get("/b/key");
        byte[] next = random(3 * PAGE);
        store.put("/b/key", next);
        assertThat(alice().get("/b/key").body()).isEqualTo(next);
        assertThat(alice().put("/b/key", OBJECT).statusCode()).isEqualTo(200);
        assertThat(cached(alice().get("/b/key"))).isEqualTo("MISS");
        assertThat(alice().delete("/b/key").statusCode()).isEqualTo(204);
        assertThat(alice().get("/b/key").statusCode()).isEqualTo(404);
    }

    /** The same bytes under another version, or with other metadata. */
    @ParameterizedTest
    @CsvSource({"Last-Modified,'Sat, 21 Nov 2026 00:00:00 GMT'", "x-amz-version-id,v2"})
    void whatChangedBesidesTheBytesIsSeenAtOnceToo(String name, String value) {
        store.put("/b/key", OBJECT);
        store.header("x-amz-version-id", "v1");
        alice().get("/b/key");
        assertThat(cached(alice().get("/b/key"))).isEqualTo("REVALIDATED");
        store.fault((exchange, object) -> {
            boolean asks = exchange.getRequestHeaders().containsKey("If-None-Match");
            if (asks) {
                exchange.getResponseHeaders().set(name, value);
                FakeStore.answerQuietly(exchange, 304);
            }
            return asks;
        });
        store.header("Content-Type", "text/new");
        assertThat(alice().get("/b/key").headers().firstValue("content-type"))
                .contains("text/new");
    }

    @Test
    void whatIsConditionalPresignedOrAHeadIsRelayed() throws Exception {
        store.put("/b/key", OBJECT);
        alice().get("/b/key");
        assertThat(alice().get("/b/key", "If-None-Match", FakeStore.etag(OBJECT)).statusCode())
                .isEqualTo(304);
        assertThat(alice().head("/b/key").statusCode()).isEqualTo(200);
        HttpResponse<byte[]> presigned = HttpClient.newHttpClient()
                .send(HttpRequest
                        .newBuilder(alice().presigned("GET", "/b/key", Duration.ofHours(1)))
                        .build(), BodyHandlers.ofByteArray());
        assertThat(presigned.body()).isEqualTo(OBJECT);
        assertThat(cached(presigned)).isEqualTo("BYPASS");
        assertThat(store.queries("/b/key").getLast()).contains("X-Amz-Signature=");
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET", "PUT", "HEAD", "DELETE"})
    void everyTokenIsAnswered501AndReachesNoStore(String method) {
        store.put("/b/key", OBJECT);
        HttpResponse<byte[]> answer = alice().send(method, "/b/key", new byte[0],
                "x-amz-rdma-token", Token.loopback(4096, 4096, 1, 1).format());
        assertThat(answer.statusCode()).isEqualTo(501);
        assertThat(answer.headers().firstValue("x-amz-rdma-reply")).contains("501");
        assertThat(store.requests()).isEmpty();
        assertThat(store.object("/b/key")).isEqualTo(OBJECT);
    }

    @Test
    void noSessionIsOpened() {
        HttpResponse<byte[]> answer = alice().send("POST", "/.railhead/sessions?fabric=loopback",
                new byte[0]);
        assertThat(answer.statusCode()).isEqualTo(403);
        assertThat(store.requests()).isEmpty();
    }

    @Test
    void aClientThatStopsReadingKeepsNobodyFromAnObject() throws Exception {
        byte[] large = random(200 * PAGE);
        store.put("/b/large", large);
        try (InputStream slow = alice()
                .sendAsync("/b/large", BodyHandlers.ofInputStream())
                .join()) {
            assertThat(slow.read()).isEqualTo(large[0] & 0xFF);
            assertThat(alice().get("/b/large").body()).isEqualTo(large);
        }
    }

    /** Written again as it was: the store still agrees, but nothing is held any more. */
    private void forgetWhileAsked(String path, byte[] object) {
        store.fault((exchange, held) -> {
            if (exchange.getRequestHeaders().containsKey("If-None-Match")) {
                store.fault((again, any) -> false);
                alice().put(path, object);
            }
            return false;
        });
    }

    @Test
    void whatGoesBetweenTheQuestionAndItsTurnIsAskedForAgain() {
        store.put("/b/key", OBJECT);
        alice().get("/b/key");
        forgetWhileAsked("/b/key", OBJECT);
        HttpResponse<byte[]> answer = alice().get("/b/key");
        assertThat(answer.body()).isEqualTo(OBJECT);
        assertThat(cached(answer)).isEqualTo("MISS");
        assertThat(store.count("GET /b/key")).isEqualTo(3);
    }

    @Test
    void whatGoesInMidBodyIsGoneOnWithByTheSameRequest() throws Exception {
        byte[] large = random(500 * PAGE + 7);
        store.put("/b/large", large);
        assertThat(alice().get("/b/large").body()).isEqualTo(large);
        try (InputStream slow = alice()
                .sendAsync("/b/large", BodyHandlers.ofInputStream())
                .join()) {
            assertThat(slow.read()).isEqualTo(large[0] & 0xFF);
            assertThat(alice().put("/b/large", large).statusCode()).isEqualTo(200);
            assertThat(slow.readAllBytes()).isEqualTo(Arrays.copyOfRange(large, 1, large.length));
        }
        assertThat(store.count("GET /b/large")).isEqualTo(3);
    }

    @Test
    void aVersionThatChangesInMidBodyCutsIt() throws Exception {
        byte[] large = random(500 * PAGE);
        store.put("/b/large", large);
        alice().get("/b/large");
        try (InputStream slow = alice()
                .sendAsync("/b/large", BodyHandlers.ofInputStream())
                .join()) {
            assertThat(slow.read()).isEqualTo(large[0] & 0xFF);
            assertThat(alice().put("/b/large", OBJECT).statusCode()).isEqualTo(200);
            assertThatThrownBy(slow::readAllBytes).isInstanceOf(IOException.class);
        }
    }

    @Test
    void s3proxyIsAskedUnderTheClientsOwnSignature() {
        try (S3ProxyProcess real = new S3ProxyProcess(Path.of("target/s3proxy/s3proxy.jar"))) {
            assertAskedUnderTheClientsSignature(real.endpoint(), real.credential());
        }
    }

    @Test
    @EnabledIfEnvironmentVariable(named = "MINIO_BIN", matches = ".+")
    void minioIsAskedUnderTheClientsOwnSignature() {
        try (MinioProcess real = new MinioProcess(Path.of(System.getenv("MINIO_BIN")))) {
            assertAskedUnderTheClientsSignature(real.endpoint(), real.credential());
        }
    }

    private static void assertAskedUnderTheClientsSignature(URI real, Caller.Credential known) {
        try (TestGateway before = TestGateway.over(real)
                .config(CONFIG)
                .principals("not read")
                .start()) {
            TestClient client = before.client(known.accessKey(), known.secretKey());
            assertThat(client.put("/bucket", new byte[0]).statusCode()).isEqualTo(200);
            assertThat(client.put("/bucket/a%20b%3D/%C3%A4", OBJECT).statusCode()).isEqualTo(200);
            assertThat(client.get("/bucket/a%20b%3D/%C3%A4").body()).isEqualTo(OBJECT);
            HttpResponse<byte[]> held = client.get("/bucket/a%20b%3D/%C3%A4");
            assertThat(held.body()).isEqualTo(OBJECT);
            assertThat(cached(held)).isEqualTo("REVALIDATED");
            assertRange(client.get("/bucket/a%20b%3D/%C3%A4", "Range", "bytes=5-99"), 5, 100);
            TestClient forger = before.client(known.accessKey(), "not-the-secret");
            assertThat(forger.get("/bucket/a%20b%3D/%C3%A4").statusCode()).isEqualTo(403);
            assertThat(client.anonymous("GET", "/bucket/a%20b%3D/%C3%A4").statusCode())
                    .isEqualTo(403);
            assertThat(client.get("/bucket?list-type=2&prefix=a%20b").statusCode())
                    .isEqualTo(200);
            byte[] document = "<Delete><Object><Key>a b=/ä</Key></Object></Delete>"
                    .getBytes(StandardCharsets.UTF_8);
            assertThat(client.send("POST", "/bucket?delete", document, "Content-MD5",
                    md5(document)).statusCode()).isEqualTo(200);
            assertThat(client.get("/bucket/a%20b%3D/%C3%A4").statusCode()).isEqualTo(404);
            before.assertNoLease();
        }
    }
}
