package io.railhead.gateway.cluster;

import static io.railhead.gateway.RandomBytes.random;
import static io.railhead.gateway.TestGateway.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.protocol.placement.Ownership;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** A new owner asks the member that owned a run before, so a restart keeps the cache warm. */
class PreviousOwnerIT {
    private static final int RUN = 512 << 10;
    private static final String CONFIG = """
            cache: {memory: 64MiB, page: 64KiB, run: 512KiB, window: 1MiB}
            rules: [{freshness: {bounded: 1h}, authorization: {remember: 1h}}]
            """;

    private static double fills(TestGateway gateway, String result) {
        return gateway.metric("railhead_cluster_peer_fills_total{result=\"" + result + "\",}");
    }

    private static long gets(ThreeGateways three) {
        return three.store.requests().stream().filter(each -> each.startsWith("GET /b/")).count();
    }

    /** Returns names of objects whose first runs the last gateway owns. */
    private static List<String> ownedByTheLast(int count) {
        List<String> found = new ArrayList<>();
        for (int i = 0; found.size() < count; i++) {
            long run = Ownership.run("b", "k" + i, 0);
            long last = Ownership.score(Ownership.member("g2"), run);
            boolean isOwned = List.of("g0", "g1")
                    .stream()
                    .map(each -> Ownership.score(Ownership.member(each), run))
                    .allMatch(score -> Long.compareUnsigned(last, score) > 0);
            if (isOwned) {
                found.add("/b/k" + i);
            }
        }
        return found;
    }

    /** Each has read all, so whatever one forgets another holds. */
    @Test
    void afterARestartOfEachTheStoreIsAskedForNothingThatAMemberHeld() {
        try (ThreeGateways three = new ThreeGateways(CONFIG)) {
            byte[] object = random(1, 8 * RUN + 12_345);
            byte[] small = random(2, 1_000);
            three.store.put("/b/object", object);
            three.store.put("/b/small", small);
            three.eachServes("/b/object", object);
            three.eachServes("/b/small", small);
            long asked = gets(three);
            for (int i = 0; i < 3; i++) {
                three.restart(i, CONFIG);
                three.eachServes("/b/object", object);
                three.eachServes("/b/small", small);
                assertThat(fills(three.gateways.get(i), "handed_over")).isPositive();
                assertThat(gets(three)).as("after restart %d", i).isEqualTo(asked);
            }
            three.gateways.forEach(TestGateway::assertNoLease);
        }
    }

    /** The store gives what the silent ones would: each of them costs its patience once. */
    @Test
    void anOwnerOfBeforeThatHangsCostsItsPatienceOnce() {
        List<String> paths = ownedByTheLast(6);
        CountDownLatch goOn = new CountDownLatch(1);
        try (ThreeGateways three = new ThreeGateways(CONFIG, "", Map.of(),
                ThreeGateways.PATIENT.withOwnersWait(Duration.ofSeconds(1)))) {
            for (String path : paths) {
                three.store.put(path, random(3, RUN));
                three.eachServes(path, random(3, RUN));
            }
            three.restart(2, CONFIG);
            TestGateway restarted = three.gateways.getLast();
            long asked = gets(three);
            try {
                three.gateways.subList(0, 2)
                        .forEach(each -> each.eventLoops()
                                .forEach(loop -> loop.execute(() -> await(goOn))));
                for (String path : paths) {
                    assertThat(three.clients.getLast().get(path).body()).isEqualTo(random(3, RUN));
                }
                assertThat(fills(restarted, "silent") + fills(restarted, "busy")
                        + fills(restarted, "unreachable")).isBetween(1.0, 2.0);
                assertThat(fills(restarted, "handed_over")).isZero();
                assertThat(gets(three)).isEqualTo(asked + paths.size());
            } finally {
                goOn.countDown();
            }
        }
    }

    /** A request under way keeps the leaving gateway there; nothing is fetched again meanwhile. */
    @Test
    void aLeavingGatewayOwnsNothingAndHandsOverWhatItHolds() {
        String path = ownedByTheLast(1).getFirst();
        CountDownLatch goOn = new CountDownLatch(1);
        try (ThreeGateways three = new ThreeGateways(CONFIG, ", drain: 2m", Map.of())) {
            three.store.put(path, random(4, RUN));
            three.store.put("/b/slow", random(5, RUN));
            TestClient leaving = three.clients.getLast();
            assertThat(leaving.get(path).body()).isEqualTo(random(4, RUN));
            assertThat(three.store.count("GET " + path + " ")).isOne();
            CountDownLatch asked = new CountDownLatch(1);
            three.store.fault((exchange, _) -> {
                if (exchange.getRequestURI().getPath().endsWith("/slow")) {
                    asked.countDown();
                    await(goOn);
                }
                return false;
            });
            CompletableFuture<HttpResponse<byte[]>> slow = leaving.sendAsync("GET", "/b/slow",
                    new byte[0]);
            await(asked);
            // Not on the common pool, whose one thread has the clients' answers to hand over.
            CompletableFuture<Void> stopped = CompletableFuture.runAsync(
                    three.gateways.getLast()::stop, task -> Thread.ofVirtual().start(task));
            List<TestClient> staying = three.clients.subList(0, 2);
            await(() -> staying.stream().noneMatch(each -> members(each).containsKey("g2")));
            for (TestClient each : staying) {
                assertThat(each.get(path).body()).isEqualTo(random(4, RUN));
            }
            assertThat(fills(three.gateways.getFirst(), "handed_over")
                    + fills(three.gateways.get(1), "handed_over")).isEqualTo(1);
            assertThat(three.store.count("GET " + path + " ")).isOne();
            goOn.countDown();
            assertThat(slow.join().body()).isEqualTo(random(5, RUN));
            stopped.join();
        } finally {
            goOn.countDown();
        }
    }

    private static JsonObject members(TestClient client) {
        return new JsonObject(new String(client.get("/.railhead/endpoints").body(), UTF_8))
                .getJsonObject("placement")
                .getJsonObject("members", new JsonObject());
    }
}
