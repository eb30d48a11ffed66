package io.railhead.gateway.frontdoor;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.Request;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** One tenant asks for all there is, by HTTP, by token and natively: it waits, nobody else does. */
class FloodIT {
    private static final int LIMIT = 8;
    private static final int FLOOD = 40;
    private static final int READS = 50;
    private static final byte[] OBJECT = new byte[100_000];
    private static final byte[] LARGE = new byte[4 << 20];

    private volatile CountDownLatch held = new CountDownLatch(0);
    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            gateway:
              admission: {requests: %d}
            """.formatted(LIMIT)).principals("""
            principals:
              - name: flooder
                keys: [{access_key: FLOOD, secret_key: flood-secret}]
              - name: good
                keys: [{access_key: AK, secret_key: SK}]
            """);
    private final TestClient flooder = gateway.client("FLOOD", "flood-secret");
    private final TestClient good = gateway.client();

    @BeforeEach
    void start() {
        for (int i = 0; i < FLOOD; i++) {
            store.put("/flood/" + i, OBJECT);
        }
        store.put("/good/object", OBJECT);
        store.fault((exchange, _) -> {
            if (exchange.getRequestURI().getPath().startsWith("/flood/")) {
                TestGateway.await(held);
            }
            return false;
        });
    }

    @AfterEach
    void stop() {
        held.countDown();
    }

    private double refused(String tenant) {
        return gateway.metric("railhead_refused_total{reason=\"requests\",tenant=\"%s\",}"
                .formatted(tenant));
    }

    private double inUse(String what) {
        return gateway.metric("railhead_admission_in_use{what=\"%s\",}".formatted(what));
    }

    @Test
    void whoFloodsIsToldToSlowDownAndNobodyElseIs() {
        try (TestPeer native1 = new TestPeer(flooder, "flood-secret", 1 << 20);
                TestPeer native2 = new TestPeer(good, "SK", 1 << 20)) {
            flood(native1, native2);
            double descriptors = gateway.metric("process_open_fds");
            double before = refused("flooder");
            flood(native1, native2);
            assertThat(refused("flooder")).isEqualTo(2 * before);
            TestGateway.await(() -> gateway.metric("process_open_fds") <= descriptors);
        }
        assertThat(refused("good")).isZero();
        assertThat(gateway.status().getJsonObject("overload").getJsonArray("slow_downs"))
                .containsExactly(new JsonObject().put("reason", "requests")
                        .put("tenant", "flooder")
                        .put("requests", (int) refused("flooder")));
    }

    /**
     * More at a time than one look at the sockets lets pass: what waits is served whole or gone.
     */
    @Test
    void whoeverWaitsForATurnIsServedAndWhoeverLeavesIsForgotten() {
        new Random(1).nextBytes(LARGE);
        store.put("/good/large", LARGE);
        assertThat(good.get("/good/large").statusCode()).isEqualTo(200);
        String head = RawConnection.head(good.signed("GET", "/good/large", new byte[0])) + "\r\n";
        List<RawConnection> connections = new ArrayList<>();
        try {
            while (gateway.metric("railhead_waited_requests_total") < FLOOD) {
                for (int i = 0; i < LIMIT; i++) {
                    RawConnection connection = new RawConnection(gateway.endpoint());
                    connections.add(connection);
                    connection.send(head);
                }
                connections.removeLast().close();
                for (RawConnection each : connections) {
                    assertThat(each.receiveHead().status()).isEqualTo(200);
                    assertThat(each.read(LARGE.length)).isEqualTo(LARGE);
                    each.close();
                }
                connections.clear();
                TestGateway.await(() -> inUse("requests") == 0);
            }
        } finally {
            connections.forEach(RawConnection::close);
        }
        TestGateway.await(() -> inUse("bytes") == 0);
        assertThat(refused("good")).isZero();
        assertThat(gateway.status().getJsonObject("overload").getLong("waited"))
                .isEqualTo((long) gateway.metric("railhead_waited_requests_total"));
    }

    private void flood(TestPeer flooding, TestPeer wellBehaved) {
        held = new CountDownLatch(1);
        List<RawConnection> connections = new ArrayList<>();
        double before = refused("flooder");
        try {
            for (int i = 0; i < FLOOD; i++) {
                RawConnection connection = new RawConnection(gateway.endpoint());
                connections.add(connection);
                connection.send(RawConnection
                        .head(flooder.signed("GET", "/flood/" + i, new byte[0])) + "\r\n");
                int taken = Math.min(i + 1, LIMIT);
                TestGateway.await(() -> inUse("requests") == taken);
                if (i >= LIMIT) {
                    assertSlowDown(connection.receiveHead());
                }
            }
            assertSlowDown(flooding);
            for (int i = 0; i < READS; i++) {
                assertThat(good.get("/good/object").statusCode()).isEqualTo(200);
                assertThat(get(wellBehaved, "good", "object").isSuccess()).isTrue();
            }
            held.countDown();
            for (int i = 0; i < LIMIT; i++) {
                assertThat(connections.get(i).receiveHead().status()).isEqualTo(200);
                assertThat(connections.get(i).read(OBJECT.length)).isEqualTo(OBJECT);
            }
        } finally {
            held.countDown();
            connections.forEach(RawConnection::close);
        }
        TestGateway.await(() -> inUse("requests") == 0 && inUse("bytes") == 0);
        assertThat(refused("flooder") - before).isEqualTo(FLOOD - LIMIT + 2);
        assertThat(gateway.metric("railhead_admission_tenants")).isZero();
        gateway.assertNoLease();
    }

    /** The same two ways that go one-sided. */
    private void assertSlowDown(TestPeer flooding) {
        HttpResponse<byte[]> token = flooder.get("/flood/0", flooding.headers(0, 1 << 20));
        assertThat(token.statusCode()).isEqualTo(503);
        assertThat(token.headers().firstValue("retry-after")).contains("1");
        Answer answer = get(flooding, "flood", "0");
        assertThat(answer.status()).isEqualTo(503);
        assertThat(answer.toString()).contains("SlowDown");
    }

    private static Answer get(TestPeer peer, String bucket, String key) {
        CompletableFuture<Answer> answer = peer
                .send(Request.get(0, bucket, key, peer.key(), 0, 1 << 20));
        return answer.join();
    }

    private static void assertSlowDown(RawConnection.Answer answer) {
        assertThat(answer.status()).isEqualTo(503);
        assertThat(answer.headers()).containsEntry("retry-after", "1");
    }
}
