package io.railhead.gateway.accounting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.RandomBytes;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.protocol.channel.Request;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Counts of each tenant, whichever way it reads, compared with the requests that the store saw. */
class UsageIT {
    private static final int BYTES = 10_000;
    private static final String PRICES = """
            accounting:
              prices: {currency: EUR, get_per_1000: 1, put_per_1000: 10, egress_per_gib: 1024}
            """;

    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config(PRICES + """
            rules:
              - {bucket: asked, freshness: strong, shared: true}
              - {bucket: passed, cache: off}
              - {freshness: immutable, shared: true}
            """).principals("""
            principals:
              - name: operator
                keys: [{access_key: ADMIN, secret_key: admin-secret}]
                admin: true
              - name: alice
                tenant: a
                rdma_put: true
                keys: [{access_key: ALICE, secret_key: SK}]
              - name: bob
                tenant: b
                keys: [{access_key: BOB, secret_key: SK}]
            """);
    private final TestClient alice = gateway.client("ALICE", "SK");
    private final TestClient bob = gateway.client("BOB", "SK");
    private final TestClient admin = new TestClient(gateway::admin, "ADMIN", "admin-secret");

    @BeforeEach
    void start() {
        for (String bucket : new String[]{"kept", "asked", "passed"}) {
            store.put("/" + bucket + "/object", RandomBytes.random(1, BYTES));
        }
    }

    private JsonObject usage(JsonObject asked) {
        String text = new String(admin.send("POST", "/.railhead/admin/usage",
                asked.encode().getBytes(StandardCharsets.UTF_8)).body(), StandardCharsets.UTF_8);
        return new JsonObject(text);
    }

    private JsonObject row(String tenant, String bucket) {
        JsonArray rows = usage(new JsonObject()).getJsonArray("usage");
        return rows.stream()
                .map(JsonObject.class::cast)
                .filter(row -> row.getString("tenant").equals(tenant)
                        && row.getString("bucket").equals(bucket))
                .findFirst()
                .orElse(new JsonObject());
    }

    private void await(String tenant, String bucket, String field, long value) {
        TestGateway.await(() -> row(tenant, bucket).getLong(field, 0L) == value);
    }

    private static void read(TestClient client, String path) {
        assertThat(client.get(path).statusCode()).isEqualTo(200);
    }

    @Test
    void missesAndHitsByEachWay() {
        read(alice, "/kept/object");
        for (int i = 0; i < 4; i++) {
            read(alice, "/kept/object");
        }
        TestPeer peer = gateway.closing(new TestPeer(alice, "SK", BYTES));
        for (int i = 0; i < 3; i++) {
            assertThat(peer.ask(Request.get(0, "kept", "object", peer.key(), 0, BYTES)).status())
                    .isEqualTo(200);
        }
        assertThat(alice.get("/kept/object", peer.headers(0, BYTES)).statusCode()).isEqualTo(200);
        assertThat(alice.head("/kept/object").statusCode()).isEqualTo(200);
        await("a", "kept", "reads", 10);
        JsonObject row = row("a", "kept");
        assertThat(row.getLong("hits") + row.getLong("misses")).isEqualTo(10);
        assertThat(row.getLong("misses")).isBetween(1L, 2L);
        assertThat(row.getLong("bytes")).isEqualTo(9 * BYTES);
        assertThat(row.getLong("store_bytes")).isEqualTo(BYTES);
        long asked = store.count("GET /kept/object") + store.count("HEAD /kept/object");
        assertThat(row.getLong("store_reads")).isEqualTo(asked);
        assertThat(row.getLong("avoided_requests")).isEqualTo(10 - asked);
        assertThat(row.getLong("avoided_bytes")).isEqualTo(8 * BYTES);
        assertThat(row.getDouble("mean_seconds")).isPositive();
        assertThat(row.getDouble("store_cost"))
                .isEqualTo(asked / 1000.0 + (double) BYTES / (1 << 20), within(1e-9));
        assertThat(row.getDouble("saved")).isEqualTo(
                (10 - asked) / 1000.0 + 8.0 * BYTES / (1 << 20), within(1e-9));
        assertThat(gateway.metric("railhead_usage_saved_cost{currency=\"EUR\",}"))
                .isEqualTo(row.getDouble("saved"), within(1e-9));
        assertThat(gateway.metric("railhead_usage_bytes_total{tenant=\"a\",bucket=\"kept\",}"))
                .isEqualTo(9 * BYTES);
    }

    @Test
    void whoRevalidatesAsksTheStoreAndWhoComesSecondReadsWhatTheFirstPaidFor() {
        read(alice, "/asked/object");
        read(alice, "/asked/object");
        read(bob, "/asked/object");
        await("a", "asked", "reads", 2);
        await("b", "asked", "reads", 1);
        assertThat(row("a", "asked").getLong("hits")).isEqualTo(1);
        assertThat(row("b", "asked").getLong("hits")).isEqualTo(1);
        assertThat(row("b", "asked").getLong("store_bytes")).isZero();
        assertThat(row("b", "asked").getLong("store_reads")).isPositive();
        assertThat(row("b", "asked").getLong("avoided_bytes")).isEqualTo(BYTES);
        assertThat(row("a", "asked").getLong("store_reads") + row("b", "asked")
                .getLong("store_reads")).isEqualTo(store.count("GET /asked/object")
                        + store.count("HEAD /asked/object"));
    }

    @Test
    void whatIsRelayedIsNeitherHitNorMiss() {
        read(alice, "/passed/object");
        assertThat(alice.put("/passed/new", new byte[BYTES]).statusCode()).isEqualTo(200);
        assertThat(alice.delete("/passed/new").statusCode()).isLessThan(300);
        TestPeer peer = gateway.closing(new TestPeer(alice, "SK", BYTES));
        assertThat(alice.put("/passed/one-sided", new byte[0], peer.headers(0, BYTES))
                .statusCode()).isEqualTo(200);
        await("a", "passed", "writes", 2);
        JsonObject row = row("a", "passed");
        assertThat(row.getLong("reads")).isEqualTo(1);
        assertThat(row.getLong("hits")).isZero();
        assertThat(row.getLong("misses")).isZero();
        assertThat(row.getLong("bytes")).isEqualTo(BYTES);
        assertThat(row.getLong("store_bytes")).isEqualTo(BYTES);
        assertThat(row.getLong("store_writes")).isEqualTo(2);
        assertThat(row.getLong("avoided_requests")).isZero();
    }

    @Test
    void whoGuessesNamesTakesNoRow() {
        for (int i = 0; i < 20; i++) {
            assertThat(alice.get("/guess" + i + "/object").statusCode()).isEqualTo(404);
        }
        read(alice, "/kept/object");
        await("a", "kept", "reads", 1);
        JsonArray rows = usage(new JsonObject()).getJsonArray("usage");
        assertThat(rows).hasSizeLessThanOrEqualTo(3)
                .noneMatch(row -> row.toString().contains("guess"));
        JsonObject byTenant = usage(JsonObject.of("by_tenant", true));
        assertThat(byTenant.getJsonArray("usage").stream().map(JsonObject.class::cast))
                .filteredOn(row -> row.getString("tenant").equals("a"))
                .hasSize(1)
                .allMatch(row -> row.getLong("reads") == 1 && !row.containsKey("bucket"));
        assertThat(byTenant.getJsonObject("total").getLong("store_reads"))
                .isGreaterThanOrEqualTo(21);
        assertThat(byTenant.getString("currency")).isEqualTo("EUR");
    }
}
