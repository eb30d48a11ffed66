package io.railhead.gateway.cluster;

import static io.railhead.gateway.RandomBytes.random;
import static io.railhead.gateway.TestGateway.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One cache of three gateways: what one of them changes, none of them serves as it was. */
class ClusterIT {
    private static final String CONFIG = """
            rules:
              - {bucket: fixed, freshness: immutable, authorization: {remember: 1h}}
              - {freshness: {bounded: 1h}, authorization: {remember: 1h}}
            """;
    private static final int BYTES = 5_000;
    private static ThreeGateways three;

    @BeforeAll
    static void start() {
        three = new ThreeGateways(CONFIG);
    }

    @AfterAll
    static void stop() {
        three.close();
    }

    @AfterEach
    void heal() {
        three.links.forEach(link -> {
            link.hears(true);
            link.speaks(true);
        });
        await(() -> three.gateways.stream()
                .allMatch(each -> each.metric("railhead_cluster_lease") == 1));
    }

    @ParameterizedTest
    @ValueSource(strings = {"held", "fixed"})
    void whatIsPutThroughOneIsServedByEach(String bucket) {
        for (int i = 0; i < 30; i++) {
            String path = "/" + bucket + "/put" + i % 3;
            byte[] before = random(i, BYTES);
            three.store.put(path, before);
            if (i < 3) {
                three.hold(path, before);
            }
            byte[] after = random(1000 + i, BYTES);
            assertThat(three.clients.get(i % 3).put(path, after).statusCode()).isEqualTo(200);
            three.eachServes(path, after);
            three.hold(path, after);
        }
        assertThat(three.gateways.getFirst().metric("railhead_cluster_gaps_total")).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"held", "fixed"})
    void whatIsDeletedThroughOneIsGoneFromEach(String bucket) {
        String path = "/" + bucket + "/deleted";
        three.store.put(path, random(1, BYTES));
        three.hold(path, random(1, BYTES));
        assertThat(three.clients.getFirst().delete(path).statusCode()).isEqualTo(204);
        three.eachHasNothing(path);
    }

    @Test
    void aCopyAndACompletedUploadAreServedByEach() {
        three.store.put("/held/source", random(2, BYTES));
        three.store.put("/held/target", random(3, BYTES));
        three.hold("/held/target", random(3, BYTES));
        three.clients.getFirst()
                .put("/held/target", new byte[0], "x-amz-copy-source", "/held/source");
        three.eachServes("/held/target", random(2, BYTES));
        three.hold("/held/target", random(2, BYTES));
        byte[] completion = "<CompleteMultipartUpload/>".getBytes(UTF_8);
        three.clients.getLast().send("POST", "/held/target?uploadId=1", completion);
        three.eachServes("/held/target", completion);
    }

    @Test
    void aDeletionOfManyIsSeenByEach() {
        three.store.put("/fixed/many", random(4, BYTES));
        three.hold("/fixed/many", random(4, BYTES));
        three.store.put("/fixed/many", random(5, BYTES));
        HttpResponse<byte[]> answer = three.clients.getFirst()
                .send("POST", "/fixed?delete",
                        "<Delete><Object><Key>many</Key></Object></Delete>".getBytes(UTF_8));
        assertThat(answer.statusCode()).isEqualTo(200);
        three.eachServes("/fixed/many", random(5, BYTES));
    }

    @Test
    void anEvictionAtOneIsAnEvictionAtEach() {
        three.store.put("/fixed/evicted", random(6, BYTES));
        three.hold("/fixed/evicted", random(6, BYTES));
        three.store.put("/fixed/evicted", random(7, BYTES));
        TestClient admin = new TestClient(three.gateways.getFirst()::admin, "AK", "SK");
        HttpResponse<byte[]> answer = admin.send("POST", "/.railhead/admin/evict",
                JsonObject.of("bucket", "fixed", "prefix", "evic").encode().getBytes(UTF_8));
        assertThat(answer.statusCode()).isEqualTo(200);
        three.eachServes("/fixed/evicted", random(7, BYTES));
    }

    @Test
    void anEventAtOneIsNewsAtEach() throws Exception {
        three.store.put("/fixed/event", random(8, BYTES));
        three.hold("/fixed/event", random(8, BYTES));
        three.store.put("/fixed/event", random(9, BYTES));
        URI endpoint = three.gateways.getLast().endpoint().resolve("/.railhead/events");
        HttpRequest event = HttpRequest.newBuilder(endpoint)
                .header("Authorization", "Bearer a-token-of-the-events-of-a-store")
                .POST(HttpRequest.BodyPublishers.ofString("""
                        {"Records": [{"eventName": "ObjectCreated:Put",
                          "s3": {"bucket": {"name": "fixed"}, "object": {"key": "event"}}}]}
                        """))
                .build();
        try (HttpClient http = HttpClient.newHttpClient()) {
            assertThat(http.send(event, HttpResponse.BodyHandlers.ofString()).statusCode())
                    .isEqualTo(200);
        }
        three.eachServes("/fixed/event", random(9, BYTES));
    }

    @Test
    void whatOneLearnsOfTheStoreTheOthersHear() {
        three.store.put("/fixed/learnt", random(10, BYTES));
        three.hold("/fixed/learnt", random(10, BYTES));
        three.store.put("/fixed/learnt", random(11, BYTES));
        TestClient asking = three.clients.getFirst();
        assertThat(asking.get("/fixed/learnt", "cache-control", "no-cache").body())
                .isEqualTo(random(11, BYTES));
        three.eachServes("/fixed/learnt", random(11, BYTES));
    }

    /** Its answer comes, once the other cannot serve unasked any more. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aWriterWaitsForWhoDoesNotHearOrIsNotHeard(boolean hears) {
        String path = "/held/cut-" + hears;
        three.store.put(path, random(12, BYTES));
        three.hold(path, random(12, BYTES));
        three.links.getLast().hears(hears);
        three.links.getLast().speaks(!hears);
        TestGateway writer = three.gateways.getFirst();
        double unheard = writer.metric("railhead_cluster_unheard_total");
        assertThat(three.clients.getFirst().put(path, random(13, BYTES)).statusCode())
                .isEqualTo(200);
        three.eachServes(path, random(13, BYTES));
        assertThat(writer.metric("railhead_cluster_unheard_total")).isGreaterThan(unheard);
    }

    @Test
    void whoHearsNobodyAsksTheStore() {
        three.store.put("/fixed/asked", random(14, BYTES));
        three.hold("/fixed/asked", random(14, BYTES));
        TestGateway deaf = three.gateways.getLast();
        three.links.getLast().hears(false);
        await(() -> deaf.metric("railhead_cluster_lease") == 0);
        three.store.put("/fixed/asked", random(15, BYTES));
        assertThat(three.clients.getLast().get("/fixed/asked").body())
                .isEqualTo(random(15, BYTES));
    }
}
