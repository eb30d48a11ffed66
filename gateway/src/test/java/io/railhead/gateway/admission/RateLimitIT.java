package io.railhead.gateway.admission;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.RandomBytes;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.Request;
import java.net.http.HttpResponse;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A tenant above its rate is refused by whichever way it comes. The clock stands still. */
class RateLimitIT {
    private static final long SECOND = 1_000_000_000;
    private static final int BYTES = 4096;
    private static final int BIG = 1 << 20;
    private static final String RULES = "rules: [{freshness: immutable, shared: true}]\n";
    private static final String LIMITED = RULES + """
            gateway:
              admission:
                rate: {requests: 5, tenants: {team: {requests: 0, bytes: 1MiB}}}
            """;

    private final AtomicLong clock = new AtomicLong(SECOND);
    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store)
            .config(LIMITED)
            .clock(clock::get)
            .principals("""
                    principals:
                      - name: trainer
                        keys: [{access_key: AK, secret_key: SK}]
                      - name: other
                        keys: [{access_key: OTHER, secret_key: SK}]
                      - name: alice
                        tenant: team
                        rdma_put: true
                        keys: [{access_key: ALICE, secret_key: SK}]
                    """);
    private final TestClient client = gateway.client();
    private final TestClient alice = gateway.client("ALICE", "SK");

    @BeforeEach
    void start() {
        store.put("/b/object", RandomBytes.random(1, BYTES));
        store.put("/b/big", RandomBytes.random(2, 3 * BIG));
    }

    private static void assertRefused(HttpResponse<byte[]> answer, String retryAfter) {
        assertThat(answer.statusCode()).isEqualTo(503);
        assertThat(new String(answer.body())).contains("<Code>SlowDown</Code>");
        assertThat(answer.headers().allValues("retry-after")).containsExactly(retryAfter);
    }

    private double limited(String tenant, String limit) {
        return gateway.metric("railhead_rate_limited_total{tenant=\"" + tenant + "\",limit=\""
                + limit + "\",}");
    }

    @Test
    void hitsMissesAndRelayedRequestsCountAlike() {
        for (int i = 0; i < 4; i++) {
            assertThat(client.get("/b/object").statusCode()).isEqualTo(200);
        }
        assertThat(client.get("/b?list-type=2").statusCode()).isLessThan(500);
        assertRefused(client.get("/b/object"), "1");
        assertThat(client.head("/b/absent").statusCode()).isEqualTo(503);
        assertThat(limited("trainer", "requests")).isEqualTo(2);
        assertThat(gateway.client("OTHER", "SK").get("/b/object").statusCode()).isEqualTo(200);
        clock.addAndGet(SECOND / 5);
        assertThat(client.get("/b/object").statusCode()).isEqualTo(200);
        assertRefused(client.get("/b/object"), "1");
    }

    @Test
    void theNativeChannelAndTokensSayTheSame() {
        TestPeer peer = gateway.closing(new TestPeer(client, "SK", BYTES));
        for (int i = 0; i < 3; i++) {
            assertThat(get(peer, "object", BYTES).status()).isEqualTo(200);
        }
        HttpResponse<byte[]> moved = client.get("/b/object", peer.headers(0, BYTES));
        assertThat(moved.headers().firstValue("x-amz-rdma-reply")).contains("200");
        Answer refused = get(peer, "object", BYTES);
        assertThat(refused.status()).isEqualTo(503);
        assertThat(refused.toString()).contains("SlowDown");
        assertRefused(client.get("/b/object", peer.headers(0, BYTES)), "1");
        assertThat(limited("trainer", "requests")).isEqualTo(2);
    }

    private static Answer get(TestPeer peer, String key, long bytes) {
        return peer.ask(Request.get(0, "b", key, peer.key(), 0, bytes));
    }

    @Test
    void aBigObjectIsLetThroughWholeAndItsDebtIsPaid() {
        assertThat(alice.get("/b/big").body()).isEqualTo(RandomBytes.random(2, 3 * BIG));
        assertRefused(alice.get("/b/object"), "3");
        assertThat(limited("team", "bytes")).isEqualTo(1);
        clock.addAndGet(2 * SECOND + SECOND / 10);
        assertThat(alice.get("/b/object").statusCode()).isEqualTo(200);
    }

    @Test
    void hitsUploadsAndNativeTransfersAreChargedByTheirBytes() {
        TestPeer peer = gateway.closing(new TestPeer(alice, "SK", BIG));
        assertThat(alice.get("/b/object").statusCode()).isEqualTo(200);
        for (int i = 1; i < BIG / BYTES / 2; i++) {
            assertThat(alice.get("/b/object").statusCode()).isEqualTo(200);
        }
        for (int i = 0; i < BIG / BYTES / 4; i++) {
            assertThat(get(peer, "object", BYTES).status()).isEqualTo(200);
        }
        assertThat(alice.put("/b/new", new byte[BIG / 4]).statusCode()).isEqualTo(200);
        assertRefused(alice.get("/b/object"), "1");
        clock.addAndGet(2 * SECOND);
        peer.set(0, new byte[BIG]);
        assertThat(alice.put("/b/one-sided", new byte[0], peer.headers(0, BIG)).statusCode())
                .isEqualTo(200);
        assertThat(get(peer, "object", BYTES).status()).isEqualTo(503);
        clock.addAndGet(2 * SECOND);
        for (int i = 0; i < 2; i++) {
            assertThat(get(peer, "big", BIG).status()).isEqualTo(i == 0 ? 206 : 503);
        }
    }

    @Test
    void aReloadChangesTheLimitsOfOpenSessionsToo() throws Exception {
        TestPeer peer = gateway.closing(new TestPeer(client, "SK", BYTES));
        for (int i = 0; i < 4; i++) {
            assertThat(get(peer, "object", BYTES).status()).isEqualTo(200);
        }
        assertThat(get(peer, "object", BYTES).status()).isEqualTo(503);
        gateway.reconfigure(RULES);
        for (int i = 0; i < 20; i++) {
            assertThat(get(peer, "object", BYTES).status()).isEqualTo(200);
        }
        gateway.reconfigure(LIMITED);
        for (int i = 0; i < 6; i++) {
            assertThat(client.get("/b/object").statusCode()).isEqualTo(i < 5 ? 200 : 503);
        }
    }
}
