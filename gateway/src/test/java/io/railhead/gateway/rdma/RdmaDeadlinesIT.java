package io.railhead.gateway.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.gateway.frontdoor.RawConnection;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A client's memory after the client was told, or may believe, that nobody writes it any more. */
class RdmaDeadlinesIT {
    private static final int BUFFER = 8 << 20;
    private static final int MARK = 0x5a;

    private final byte[] object = new byte[6 << 20];
    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch release = new CountDownLatch(1);
    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            rdma:
              decide_timeout: 500ms
              fence_timeout: 1500ms
            rules:
              - bucket: held
                freshness: immutable
            """).principals(TestGateway.UPLOADER);
    private final TestClient client = gateway.client();
    private TestPeer peer;

    @BeforeEach
    void start() {
        new Random(1).nextBytes(object);
        peer = gateway.closing(new TestPeer(client, "SK", BUFFER));
        store.put("/held/object", object);
    }

    @AfterEach
    void stop() {
        release.countDown();
    }

    private void hold() {
        reached.countDown();
        TestGateway.await(release);
    }

    @Test
    void anAnswerThatComesAfterTheDecisionWasDueGoesIntoTheBody() throws Exception {
        store.fault((exchange, bytes) -> {
            hold();
            return false;
        });
        peer.fill(MARK);
        CompletableFuture<HttpResponse<byte[]>> answer = client.sendAsync("GET", "/held/object",
                new byte[0], peer.headers(0, BUFFER));
        reached.await();
        long overdue = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(600);
        TestGateway.await(() -> System.nanoTime() - overdue > 0);
        release.countDown();

        HttpResponse<byte[]> late = answer.get(20, TimeUnit.SECONDS);
        assertThat(late.statusCode()).isEqualTo(200);
        assertThat(late.headers().firstValue("x-amz-rdma-reply")).isEmpty();
        assertThat(late.headers().firstValue("x-railhead-rdma-declined")).contains("slow");
        assertThat(late.body()).isEqualTo(object);
        assertThat(peer.isAll(MARK)).isTrue();
    }

    /** Sends a part of what was asked for, and the rest when released. */
    private boolean stall(HttpExchange exchange) {
        try {
            exchange.getResponseHeaders().set("ETag", FakeStore.etag(object));
            exchange.getResponseHeaders()
                    .set("Content-Range", "bytes 0-" + (object.length - 1) + "/" + object.length);
            exchange.sendResponseHeaders(206, object.length);
            exchange.getResponseBody().write(object, 0, object.length / 2);
            exchange.getResponseBody().flush();
            hold();
            exchange.getResponseBody()
                    .write(object, object.length / 2, object.length - object.length / 2);
        } catch (IOException e) {
            // The gateway has gone away, as it may.
        }
        return true;
    }

    @Test
    void aTransferThatStallsIsFencedInTimeAndWritesNothingAfterwards() throws Exception {
        store.fault((exchange, bytes) -> stall(exchange));
        CompletableFuture<HttpResponse<byte[]>> answer = client.sendAsync("GET", "/held/object",
                new byte[0], peer.headers(0, BUFFER));

        HttpResponse<byte[]> fenced = answer.get(20, TimeUnit.SECONDS);
        assertThat(fenced.statusCode()).isEqualTo(500);
        assertThat(new String(fenced.body())).contains("<Code>RDMATransferFenced</Code>");
        assertThat(fenced.headers().firstValue("x-amz-rdma-reply")).isEmpty();
        assertUntouchedWhenTheRestComes();
    }

    private void assertUntouchedWhenTheRestComes() {
        peer.fill(MARK);
        release.countDown();
        assertThat(client.get("/held/object").body()).isEqualTo(object);
        gateway.assertNoLease();
        assertThat(peer.isAll(MARK)).isTrue();
    }

    @Test
    void aClientThatClosesItsConnectionHasItsBufferBack() throws Exception {
        store.fault((exchange, bytes) -> stall(exchange));
        peer.fill(0);
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send(RawConnection.head(client.signed("GET", "/held/object", new byte[0],
                    peer.headers(0, BUFFER))) + "\r\n");
            reached.await();
            TestGateway
                    .await(() -> Arrays.equals(peer.bytes(0, 1000), Arrays.copyOf(object, 1000)));
            raw.reset();
        }
        TestGateway.await(() -> gateway
                .metric("railhead_rdma_requests_total{dialect=\"amz\",result=\"broken\",}") == 1
                || gateway.metric("railhead_requests_in_flight") == 0);
        assertUntouchedWhenTheRestComes();
    }
}
