package io.railhead.gateway.object.write;

import static io.railhead.gateway.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.gateway.frontdoor.RawConnection;
import io.railhead.protocol.channel.Request;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What is uploaded is served from memory, once the store has confirmed it. */
class KeptUploadsIT {
    private static final byte[] OBJECT = random(1, 3_000_000);
    private static final byte[] OTHER = random(2, 3_000_000);

    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            rules:
              - bucket: fixed
                cache: reads+writes
                freshness: immutable
                max_object: 20MiB
              - bucket: strong
                cache: reads+writes
            """).principals(TestGateway.UPLOADER);
    private final TestClient client = gateway.client();

    @AfterEach
    void stop() {
        TestGateway.await(() -> gateway.metric("railhead_requests_in_flight") == 0
                && gateway.metric("railhead_staged_bytes") == 0);
    }

    private void awaitOutcome(String outcome) {
        TestGateway.await(() -> gateway
                .metric("railhead_uploads_kept_total{outcome=\"" + outcome + "\",}") == 1);
    }

    private void put(String path, byte[] object) {
        assertThat(client.put(path, object).statusCode()).isEqualTo(200);
    }

    private void assertServedFromMemory(String path, String result) {
        HttpResponse<byte[]> answer = client.get(path);
        assertThat(answer.body()).isEqualTo(OBJECT);
        assertThat(answer.headers().firstValue("x-cache")).contains(result);
        assertThat(store.count("GET " + path)).isZero();
    }

    @Test
    void anUploadIsServedWithoutAskingForItsBytes() {
        put("/fixed/key", OBJECT);
        awaitOutcome("kept");
        assertServedFromMemory("/fixed/key", "HIT");
        HttpResponse<byte[]> part = client.get("/fixed/key", "Range", "bytes=100-199");
        assertThat(part.statusCode()).isEqualTo(206);
        assertThat(part.body()).isEqualTo(Arrays.copyOfRange(OBJECT, 100, 200));
        assertThat(store.count("HEAD /fixed/key")).isEqualTo(1);
    }

    /** A store may keep another than was sent, and says so. */
    @Test
    void itIsDescribedAsTheStoreDoesAndNotAsItsUploadDid() {
        store.header("content-type", "text/as-kept");
        assertThat(client.put("/fixed/key", OBJECT, "Content-Type", "text/as-sent").statusCode())
                .isEqualTo(200);
        awaitOutcome("kept");
        assertThat(client.get("/fixed/key", "Content-Type", "text/as-asked")
                .headers()
                .firstValue("content-type")).contains("text/as-kept");
        assertServedFromMemory("/fixed/key", "HIT");
        assertThat(client.get("/fixed/key").headers().firstValue("content-type"))
                .contains("text/as-kept");
    }

    @Test
    void underStrongItIsRevalidatedAndStillNotFetched() {
        put("/strong/key", OBJECT);
        awaitOutcome("kept");
        assertServedFromMemory("/strong/key", "REVALIDATED");
    }

    @Test
    void anUploadOutOfAClientsMemoryIsKept() {
        try (TestPeer peer = new TestPeer(client, "SK", 4 << 20)) {
            peer.set(0, OBJECT);
            assertThat(client.put("/fixed/token", new byte[0], peer.headers(0, OBJECT.length))
                    .statusCode()).isEqualTo(200);
            awaitOutcome("kept");
            assertServedFromMemory("/fixed/token", "HIT");
            assertThat(peer.ask(Request.put(0, "fixed", "channel", peer.key(), 0, OBJECT.length,
                    Map.of()))
                    .status()).isEqualTo(200);
            TestGateway.await(() -> gateway
                    .metric("railhead_uploads_kept_total{outcome=\"kept\",}") == 2);
            assertServedFromMemory("/fixed/channel", "HIT");
        }
    }

    @Test
    void whatTheStoreDoesNotConfirmIsNotServed() {
        store.fault((exchange, bytes) -> {
            if (exchange.getRequestMethod().equals("HEAD")) {
                store.put("/strong/key", OTHER);
            }
            return false;
        });
        put("/strong/key", OBJECT);
        TestGateway.await(() -> store.count("HEAD /strong/key") == 1);
        assertThat(client.get("/strong/key").body()).isEqualTo(OTHER);
    }

    @Test
    void anUploadIsNotConfirmedByAnotherObject() {
        // As long, but not the same: the HEAD that follows finds what somebody else put there.
        store.fault((exchange, bytes) -> {
            if (exchange.getRequestMethod().equals("PUT")) {
                exchange.getResponseHeaders().set("ETag", FakeStore.etag(bytes));
                store.put("/strong/key", OTHER);
                try {
                    exchange.sendResponseHeaders(200, -1);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
                return true;
            }
            return false;
        });
        put("/strong/key", OBJECT);
        awaitOutcome("unconfirmed");
        assertThat(client.get("/strong/key").body()).isEqualTo(OTHER);
    }

    @Test
    void aWriteThatOvertakesTheConfirmationWins() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        store.fault((exchange, bytes) -> {
            if (exchange.getRequestMethod().equals("HEAD")) {
                TestGateway.await(release);
            }
            return false;
        });
        put("/strong/key", OBJECT);
        TestGateway.await(() -> store.count("HEAD /strong/key") == 1);
        store.header("x-amz-meta-n", "1");
        // The same bytes, so that only the generation tells that it was written again.
        put("/strong/key", OBJECT);
        release.countDown();
        awaitOutcome("overtaken");
        assertThat(client.get("/strong/key").body()).isEqualTo(OBJECT);
    }

    @Test
    void largerOnesThanTheRuleOrTheMemoryAllowsGoThroughUnkept() {
        put("/fixed/large", new byte[(20 << 20) + 1]);
        assertThat(gateway.metrics()).doesNotContain("railhead_uploads_kept_total{");
        put("/fixed/larger-than-a-quarter", new byte[18 << 20]);
        awaitOutcome("no_memory");
        assertThat(store.object("/fixed/larger-than-a-quarter")).hasSize(18 << 20);
    }

    @Test
    void partsAndEmptyObjectsAreNotKept() {
        put("/fixed/part?uploadId=1&partNumber=1", OBJECT);
        put("/fixed/empty", new byte[0]);
        assertThat(gateway.metrics()).doesNotContain("railhead_uploads_kept_total{");
    }

    @Test
    void whatIsRefusedOrBrokenOffLeavesNothing() {
        store.fault((exchange, bytes) -> {
            try {
                exchange.sendResponseHeaders(403, -1);
                return true;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        assertThat(client.put("/fixed/denied", OBJECT).statusCode()).isEqualTo(403);
        awaitOutcome("refused");
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send(RawConnection.head(client.signed("PUT", "/fixed/cut", OBJECT),
                    "Content-Length: " + OBJECT.length) + "\r\n");
            raw.send(Arrays.copyOf(OBJECT, 1_000_000));
            raw.reset();
        }
        TestGateway.await(() -> gateway
                .metric("railhead_uploads_kept_total{outcome=\"refused\",}") == 2);
    }
}
