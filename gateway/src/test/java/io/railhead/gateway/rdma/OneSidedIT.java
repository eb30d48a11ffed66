package io.railhead.gateway.rdma;

import static io.railhead.gateway.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.protocol.token.Token;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.List;
import java.util.UUID;
import java.util.zip.CRC32;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Objects into and out of a client's own memory: {@code RdmaConformanceIT} has the answers. */
class OneSidedIT {
    private static final int BUFFER = 24 << 20;
    private static final byte[] OBJECT = random(10_000_000);

    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            cache:
              memory: 128MiB
            rules:
              - bucket: held
                freshness: immutable
              - bucket: plain
                cache: off
            """).principals(TestGateway.UPLOADER + TestGateway.OTHER);
    private final TestClient client = gateway.client();
    private TestPeer peer;

    @BeforeEach
    void start() {
        peer = gateway.closing(new TestPeer(client, "SK", BUFFER));
        store.put("/held/object", OBJECT);
        store.put("/b/object", OBJECT);
    }

    private static void assertDelivered(HttpResponse<byte[]> answer, int status, long bytes) {
        assertThat(answer.statusCode()).as("%s", new String(answer.body())).isEqualTo(status);
        assertThat(answer.headers().firstValue("x-amz-rdma-reply"))
                .contains(Integer.toString(status));
        assertThat(answer.headers().firstValue("x-amz-rdma-bytes-transferred"))
                .contains(Long.toString(bytes));
        assertThat(answer.body()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/held/object", "/b/object"})
    void anObjectLandsInTheBufferColdAndHeld(String path) {
        for (int round = 0; round < 3; round++) {
            peer.fill(round);
            assertDelivered(client.get(path, peer.headers(100, BUFFER - 100)), 200, OBJECT.length);
            assertThat(peer.bytes(100, OBJECT.length)).isEqualTo(OBJECT);
            assertThat(peer.bytes(0, 100)).containsOnly(round);
            assertThat(peer.bytes(100 + OBJECT.length, 100)).containsOnly(round);
        }
    }

    @Test
    void onlyHitsSpareTheStore() {
        store.put("/plain/object", OBJECT);
        for (int round = 0; round < 2; round++) {
            assertDelivered(client.get("/plain/object", peer.headers(0, BUFFER)), 200,
                    OBJECT.length);
        }
        assertThat(gateway.metric("railhead_store_bytes_avoided_total")).isZero();
        for (int round = 0; round < 2; round++) {
            assertDelivered(client.get("/held/object", peer.headers(0, BUFFER)), 200,
                    OBJECT.length);
        }
        assertThat(gateway.metric("railhead_store_bytes_avoided_total")).isEqualTo(OBJECT.length);
    }

    @Test
    void whatTheFabricsDidIsInTheMetrics() {
        assertDelivered(client.get("/held/object", peer.headers(0, BUFFER)), 200, OBJECT.length);

        assertThat(gateway.metric("railhead_fabric_usable{fabric=\"loopback\",}")).isEqualTo(1);
        assertThat(gateway.metric("railhead_fabric_usable{fabric=\"verbs\",}")).isZero();
        assertThat(gateway.metric("railhead_fabric_sessions{fabric=\"loopback\",}")).isEqualTo(1);
        assertThat(gateway.metric("railhead_fabric_registered_bytes{fabric=\"loopback\",}"))
                .isGreaterThanOrEqualTo(BUFFER);
        assertThat(gateway.metric("railhead_fabric_transfers_total{fabric=\"loopback\",}"))
                .isEqualTo(1);
        assertThat(gateway.metric(
                "railhead_fabric_bytes_total{fabric=\"loopback\",direction=\"write\",}"))
                .isEqualTo(OBJECT.length);
        assertThat(gateway.metric("railhead_fabric_copy_seconds_total{fabric=\"loopback\",}"))
                .isPositive();
        assertThat(gateway.metrics()).contains(
                "railhead_fabric_idle_spin_seconds_total{fabric=\"verbs\",}",
                "railhead_fabric_refusals_total{fabric=\"loopback\",side=\"peer\","
                        + "reason=\"bad_proof\",}");
    }

    @Test
    void anUploadIsReadOutOfTheBuffer() {
        byte[] upload = random(9_000_001);
        peer.set(50, upload);
        HttpResponse<byte[]> answer = client.put("/b/uploaded", new byte[0],
                peer.headers(50, upload.length, "x-amz-checksum-crc32", crc32(upload)));
        assertDelivered(answer, 200, upload.length);
        assertThat(answer.headers().firstValue("etag")).contains(FakeStore.etag(upload));
        assertThat(store.object("/b/uploaded")).isEqualTo(upload);
    }

    private static String crc32(byte[] bytes) {
        CRC32 crc = new CRC32();
        crc.update(bytes);
        return Base64.getEncoder()
                .encodeToString(
                        ByteBuffer.allocate(4).putInt((int) crc.getValue()).array());
    }

    private static void assertRefused(HttpResponse<byte[]> answer, int status, String code) {
        assertThat(new String(answer.body())).contains("<Code>" + code + "</Code>");
        assertThat(answer.statusCode()).isEqualTo(status);
        assertThat(answer.headers().firstValue("x-amz-rdma-reply").filter("200"::equals)).isEmpty();
    }

    @Test
    void whatATokenMayNotNameIsRefusedAndNoByteMoves() {
        peer.fill(5);
        Token good = peer.token(0, 1000);
        List<Refusal> refusals = List.of(
                new Refusal(peer.token(-1, 1000), 400, "RDMAOutOfBounds"),
                new Refusal(peer.token(BUFFER - 999, 1000), 400, "RDMAOutOfBounds"),
                new Refusal(peer.token(0, BUFFER + 1), 400, "RDMAOutOfBounds"),
                new Refusal(
                        new Token(good.address(), 1000, good.key() + 1, 0, good.session(),
                                good.gid()),
                        403,
                        "RDMAUnknownKey"),
                new Refusal(
                        new Token(good.address(), 1000, good.key(), 0, good.session() ^ 1,
                                good.gid()),
                        403,
                        "RDMAUnknownSession"));
        for (Refusal refusal : refusals) {
            assertRefused(client.get("/held/object", TestPeer.headers(refusal.token)),
                    refusal.status, refusal.code);
        }
        assertRefused(
                gateway.client("OTHER", "other-secret").get("/held/object", peer.headers(0, 1000)),
                403,
                "RDMAForeignSession");
        assertRefused(client.get("/held/object", "x-amz-rdma-token", "not a token"), 400,
                "InvalidRDMAToken");
        assertThat(peer.isAll(5)).isTrue();
    }

    private record Refusal(Token token, int status, String code) {}

    @Test
    void aPeerThatHasGoneIsAnUnknownSession() {
        String[] headers = peer.headers(0, 1000);
        peer.close();
        TestGateway.await(() -> new String(client.get("/held/object", fresh(headers)).body())
                .contains("RDMAUnknownSession"));
        peer = gateway.closing(new TestPeer(client, "SK", BUFFER));
    }

    private static String[] fresh(String[] headers) {
        String[] again = headers.clone();
        again[3] = UUID.randomUUID().toString();
        return again;
    }

    @Test
    void everyKnownTokenHeaderIsRecognisedAndNoneStoresAnEmptyObject() {
        String dc = "0102030405060708:01020304:01020304:0102:010203:1:0102030405060708090a0b0c0d0e0f10";
        for (String header : List.of("x-amz-rdma-token", "x-rdma-info", "x-cuobj-rdma-descr",
                "x-scal-rdma",
                "x-amz-meta-rdma-token")) {
            HttpResponse<byte[]> put = client.put("/b/never", new byte[0], header, dc);
            assertThat(put.statusCode()).as(header).isEqualTo(501);
            assertThat(put.headers().firstValue("etag")).isEmpty();
            assertThat(store.object("/b/never")).isNull();
        }
        HttpResponse<byte[]> inline = client.get("/b/object", "x-amz-rdma-token", dc);
        assertThat(inline.statusCode()).isEqualTo(200);
        assertThat(inline.body()).isEqualTo(OBJECT);
        assertThat(client.get("/b/object", "x-rdma-info", dc).statusCode()).isEqualTo(501);
    }

    @Test
    void anUploadWithoutPermissionIsDeclined() {
        TestClient other = gateway.client("OTHER", "other-secret");
        try (TestPeer others = new TestPeer(other, "other-secret", 4096)) {
            HttpResponse<byte[]> answer = other.put("/b/forbidden", new byte[0],
                    others.headers(0, 4096));
            assertThat(answer.statusCode()).isEqualTo(501);
            assertThat(answer.headers().firstValue("x-amz-rdma-reply")).contains("501");
            assertThat(store.object("/b/forbidden")).isNull();
        }
    }

    @Test
    void anUnsignedOpenIsRefused() {
        assertThat(client.anonymous("POST", "/.railhead/sessions?fabric=loopback").statusCode())
                .isEqualTo(403);
    }
}
