package io.railhead.gateway.channel;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.AnswerOrigin;
import io.railhead.protocol.channel.Request;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Native requests that do not come to their end: nothing is written after they were answered. */
class ChannelFaultsIT {
    private static final int BUFFER = 8 << 20;
    private static final int MARK = 0x5a;
    private static final String OTHERS = """
            principals:
              - name: other
                keys: [{access_key: OTHER, secret_key: other-secret}]
            """;
    private static final String BOTH = OTHERS + """
              - name: trainer
                keys: [{access_key: AK, secret_key: SK}]
                rdma_put: true
            """;

    private final byte[] object = new byte[6 << 20];
    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch release = new CountDownLatch(1);
    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store)
            .config(config("60s"))
            .principals(BOTH);
    private final TestClient client = gateway.client();
    private TestPeer peer;

    @BeforeEach
    void start() {
        new Random(1).nextBytes(object);
        store.put("/held/object", object);
        store.put("/held/small", new byte[1000]);
        connect();
    }

    private static String config(String requestTimeout) {
        return """
                rdma:
                  channel: {request_timeout: %s}
                rules:
                  - bucket: held
                    freshness: immutable
                """.formatted(requestTimeout);
    }

    private void connect() {
        peer = gateway.closing(new TestPeer(client, "SK", BUFFER));
    }

    private void restart(String requestTimeout) {
        peer.close();
        gateway.restart(config(requestTimeout));
        connect();
    }

    @AfterEach
    void stop() {
        release.countDown();
    }

    private void hold() {
        reached.countDown();
        TestGateway.await(release);
    }

    /** Sends half of what was asked for, and the rest when released. */
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

    private Request get(int id) {
        return Request.get(id, "held", "object", peer.key(), 0, BUFFER);
    }

    /** A GET whose first bytes are there and whose last ones are not. */
    private CompletableFuture<Answer> halfWritten(int id) throws Exception {
        store.fault((exchange, bytes) -> bytes.length == object.length && stall(exchange));
        peer.fill(0);
        CompletableFuture<Answer> answer = peer.send(get(id));
        reached.await();
        TestGateway.await(() -> Arrays.equals(peer.bytes(0, 1000), Arrays.copyOf(object, 1000)));
        return answer;
    }

    private void assertUntouchedWhenTheRestComes() {
        peer.fill(MARK);
        release.countDown();
        store.fault((exchange, bytes) -> false);
        assertThat(client.get("/held/object").body()).isEqualTo(object);
        gateway.assertNoLease();
        assertThat(peer.isAll(MARK)).isTrue();
    }

    private static void assertCancelled(CompletableFuture<Answer> answer) throws Exception {
        Answer cancelled = answer.get(20, TimeUnit.SECONDS);
        assertThat(cancelled.status()).as("%s", cancelled).isZero();
        assertThat(cancelled.code()).isEqualTo(Answer.CANCELLED);
    }

    /** The transfer's end, or the session's, says so, whichever comes first. */
    private static void assertNotServed(CompletableFuture<Answer> request) throws Exception {
        Boolean served = request.handle((answer, failure) -> failure == null && answer.isSuccess())
                .get(20, TimeUnit.SECONDS);
        assertThat(served).isFalse();
    }

    @Test
    void aMissThatIsCancelledInTheMiddleWritesNothingAfterItsAnswer() throws Exception {
        CompletableFuture<Answer> answer = halfWritten(7);
        peer.cancel(7);
        assertCancelled(answer);
        assertUntouchedWhenTheRestComes();
        assertThat(gateway.metric(
                "railhead_channel_requests_total{operation=\"get\",outcome=\"cancelled\",}"))
                .isEqualTo(1);
    }

    @Test
    void aMissThatIsCancelledBeforeTheStoreAnsweredIsAnsweredAtOnce() throws Exception {
        store.fault((exchange, bytes) -> {
            hold();
            return false;
        });
        CompletableFuture<Answer> answer = peer.send(get(7));
        reached.await();
        peer.cancel(7);
        assertCancelled(answer);
        assertUntouchedWhenTheRestComes();
    }

    @Test
    void anUploadThatTheStoreHasIsAnsweredAsStoredThoughItWasCancelled() throws Exception {
        store.fault((exchange, bytes) -> {
            hold();
            return false;
        });
        CompletableFuture<Answer> answer = peer
                .send(Request.put(7, "held", "new", peer.key(), 0, 1000, Map.of()));
        reached.await();
        peer.cancel(7);
        release.countDown();
        assertThat(answer.get(20, TimeUnit.SECONDS).status()).isEqualTo(200);
        assertThat(store.object("/held/new")).hasSize(1000);
    }

    @Test
    void aMissThatStallsIsFencedAtItsDeadlineAndWritesNothingAfterwards() throws Exception {
        restart("4s");
        Answer fenced = halfWritten(1).get(20, TimeUnit.SECONDS);
        assertThat(fenced.status()).as("%s", fenced).isEqualTo(500);
        assertThat(fenced.code()).isEqualTo("RDMATransferFenced");
        assertUntouchedWhenTheRestComes();
    }

    @Test
    void aMissThatDoesNotEvenBeginIsDeclinedAtItsDeadline() throws Exception {
        restart("500ms");
        store.fault((exchange, bytes) -> {
            hold();
            return false;
        });
        CompletableFuture<Answer> answer = peer.send(get(1));
        reached.await();
        long overdue = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(600);
        TestGateway.await(() -> System.nanoTime() - overdue > 0);
        release.countDown();
        assertThat(answer.get(20, TimeUnit.SECONDS).code()).isEqualTo("slow");
        assertUntouchedWhenTheRestComes();
    }

    @Test
    void aCancelledIdCanBeUsedAgain() throws Exception {
        CompletableFuture<Answer> answer = halfWritten(7);
        peer.cancel(7);
        assertCancelled(answer);
        release.countDown();
        store.fault((exchange, bytes) -> false);
        Answer again = peer.send(get(7)).get(20, TimeUnit.SECONDS);
        assertThat(again.bytesMoved()).isEqualTo(object.length);
        assertThat(peer.bytes(0, object.length)).isEqualTo(object);
    }

    @Test
    void aWithdrawnPrincipalLosesItsRequestsAndNobodyElseDoes() throws Exception {
        try (TestPeer other = new TestPeer(gateway.client("OTHER", "other-secret"),
                "other-secret", 4096)) {
            CompletableFuture<Answer> half = halfWritten(1);
            List<CompletableFuture<Answer>> lost = new ArrayList<>(List.of(half));
            for (int id = 2; id < 10; id++) {
                lost.add(peer.send(get(id)));
            }
            Files.writeString(gateway.directory().resolve("credentials.yaml"), OTHERS);
            gateway.credentials().reload();
            for (CompletableFuture<Answer> each : lost) {
                assertNotServed(each);
            }
            peer.fill(MARK);
            release.countDown();
            store.fault((exchange, bytes) -> false);
            for (int round = 0; round < 3; round++) {
                Answer small = other
                        .ask(Request.get(0, "held", "small", other.key(), 0, 4096));
                assertThat(small.bytesMoved()).isEqualTo(1000);
            }
            gateway.assertNoLease();
            assertThat(peer.isAll(MARK)).isTrue();
        }
    }

    @Test
    void aPeerThatGoesInTheMiddleLeavesNothingBehindAndDisturbsNobody() throws Exception {
        try (TestPeer other = new TestPeer(gateway.client("OTHER", "other-secret"),
                "other-secret", 4096)) {
            CompletableFuture<Answer> lost = halfWritten(1);
            peer.leave();
            assertNotServed(lost);
            assertThat(other.ask(Request.get(0, "held", "small", other.key(), 0, 4096))
                    .bytesMoved()).isEqualTo(1000);
            assertThat(other.ask(Request.get(0, "held", "small", other.key(), 0, 4096)).cache())
                    .isEqualTo(AnswerOrigin.HIT);
            TestGateway.await(() -> gateway.metric(
                    "railhead_channel_requests_total{operation=\"get\",outcome=\"lost\",}") == 1);
        }
        assertUntouchedWhenTheRestComes();
    }
}
