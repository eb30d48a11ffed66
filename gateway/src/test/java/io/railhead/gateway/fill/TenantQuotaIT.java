package io.railhead.gateway.fill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.RandomBytes;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.Request;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Who reads, or uploads, has the page counted for its tenant. */
class TenantQuotaIT {
    private static final int MIB = 1 << 20;
    private static final int OBJECTS = 12;

    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            cache:
              memory: 64MiB
              tenants:
                capped: {quota: 4MiB}
                kept: {floor: 25%}
            rules:
              - freshness: immutable
                cache: reads+writes
                shared: true
            """).principals("""
            principals:
              - name: alice
                tenant: capped
                keys: [{access_key: ALICE, secret_key: alice-secret}]
              - name: bob
                tenant: kept
                keys: [{access_key: BOB, secret_key: bob-secret}]
            """);

    @BeforeEach
    void start() {
        for (int i = 0; i < OBJECTS; i++) {
            store.put("/b/o" + i, random(i));
        }
    }

    private static byte[] random(int seed) {
        return RandomBytes.random(seed, MIB);
    }

    private double cached(String tenant) {
        return gateway.metric("railhead_tenant_cached_bytes{tenant=\"" + tenant + "\",}");
    }

    private void assertStatusShows() {
        String status = HttpClient.newHttpClient()
                .sendAsync(HttpRequest.newBuilder(gateway.admin().resolve("/status.json")).build(),
                        HttpResponse.BodyHandlers.ofString())
                .join()
                .body();
        JsonArray tenants = new JsonObject(status).getJsonArray("tenants");
        assertThat(tenants.stream().map(JsonObject.class::cast))
                .extracting(tenant -> tenant.getString("name"), tenant -> tenant.getLong("bytes"),
                        tenant -> tenant.getLong("quota_bytes"))
                .containsExactlyInAnyOrder(tuple("capped", (long) cached("capped"), 4L * MIB),
                        tuple("kept", 2L * MIB, null));
        assertThat(tenants.stream().map(JsonObject.class::cast))
                .filteredOn(tenant -> "capped".equals(tenant.getString("name")))
                .allMatch(tenant -> tenant.getLong("quota_evictions") > 0);
    }

    @Test
    void aTenantAtItsQuotaTakesNothingOfAnothers() {
        TestClient alice = gateway.client("ALICE", "alice-secret");
        TestClient bob = gateway.client("BOB", "bob-secret");
        store.put("/b/bobs", random(100));
        assertThat(bob.get("/b/bobs").body()).isEqualTo(random(100));
        TestGateway.await(() -> cached("kept") == MIB);
        for (int i = 0; i < OBJECTS; i++) {
            assertThat(alice.get("/b/o" + i).body()).isEqualTo(random(i));
        }
        TestGateway.await(() -> cached("capped") > 0
                && gateway.metric("railhead_tenant_quota_evictions_total{tenant=\"capped\",}") > 0);
        assertThat(cached("capped")).isLessThanOrEqualTo(4.0 * MIB);
        assertThat(cached("kept")).isEqualTo(MIB);
        assertThat(bob.put("/b/uploaded", random(101)).statusCode()).isEqualTo(200);
        TestGateway.await(() -> cached("kept") == 2.0 * MIB);
        assertStatusShows();
        long asked = store.count("GET /b/bobs");
        assertThat(bob.get("/b/bobs").body()).isEqualTo(random(100));
        assertThat(store.count("GET /b/bobs")).isEqualTo(asked);
    }

    @Test
    void whatTheNativeChannelFetchesIsItsCallersTenants() {
        TestPeer peer = new TestPeer(gateway.client("ALICE", "alice-secret"), "alice-secret", MIB);
        for (int i = 0; i < OBJECTS; i++) {
            Answer answer = peer.ask(Request.get(0, "b", "o" + i, peer.key(), 0, MIB));
            assertThat(answer.status()).isEqualTo(200);
            assertThat(peer.bytes(0, MIB)).isEqualTo(random(i));
        }
        TestGateway.await(() -> cached("capped") > 0
                && gateway.metric("railhead_tenant_quota_evictions_total{tenant=\"capped\",}") > 0);
        assertThat(cached("capped")).isLessThanOrEqualTo(4.0 * MIB);
        peer.close();
    }
}
