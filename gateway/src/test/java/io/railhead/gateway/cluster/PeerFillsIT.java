package io.railhead.gateway.cluster;

import static io.railhead.gateway.RandomBytes.random;
import static io.railhead.gateway.TestGateway.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Three gateways fetch an object once, and hand each other its pages. */
class PeerFillsIT {
    private static final int PAGE = 64 << 10;
    private static final int RUN = 512 << 10;
    private static final int RUNS = 16;
    private static final String CONFIG = """
            cache: {memory: 64MiB, page: 64KiB, run: 512KiB, window: 1MiB}
            rules:
              - {bucket: verified, verify_fills: true}
              - {freshness: {bounded: 1h}, authorization: {remember: 1h}}
            """;
    private static final String FILLED = "railhead_cluster_peer_fills_total{result=\"filled\",}";

    private final ThreeGateways three = new ThreeGateways(CONFIG);
    private @Nullable TestGateway stopped;

    @AfterEach
    void close() {
        try {
            three.gateways.forEach(each -> {
                if (each != stopped) {
                    each.assertNoLease();
                }
            });
        } finally {
            three.close();
        }
    }

    private long gets(String path) {
        return three.store.count("GET " + path + " ");
    }

    private double filled() {
        return three.gateways.stream().mapToDouble(each -> each.metric(FILLED)).sum();
    }

    @Test
    void anObjectThatAllReadIsFetchedOnce() {
        byte[] object = random(1, RUNS * RUN + 12_345);
        three.store.put("/b/once", object);
        three.eachServes("/b/once", object);
        assertThat(gets("/b/once")).isLessThanOrEqualTo(RUNS + 2L);
        assertThat(filled()).isBetween((double) RUNS, 2.0 * RUNS + 2);
        double in = 0;
        double out = 0;
        for (TestGateway each : three.gateways) {
            in += each.metric("railhead_cluster_peer_bytes_total{direction=\"in\",}");
            out += each.metric("railhead_cluster_peer_bytes_total{direction=\"out\",}");
        }
        assertThat(in).isEqualTo(out).isGreaterThan(object.length);
    }

    @Test
    void manyColdReadersThroughAllFetchItOnce() {
        byte[] object = random(2, RUNS * RUN);
        three.store.put("/b/many", object);
        List<CompletableFuture<HttpResponse<byte[]>>> reads = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            reads.add(three.clients.get(i % 3).sendAsync("GET", "/b/many", new byte[0]));
        }
        for (CompletableFuture<HttpResponse<byte[]>> read : reads) {
            assertThat(read.join().body()).isEqualTo(object);
        }
        assertThat(gets("/b/many")).isLessThanOrEqualTo(RUNS + 1L);
    }

    /** Guests' pages do not fill the memory: each gateway keeps its own share of everything. */
    @Test
    void threeMemoriesHoldMoreThanOne() {
        int objects = 12;
        for (int i = 0; i < objects; i++) {
            three.store.put("/b/set" + i, random(100 + i, RUNS * RUN));
        }
        for (int pass = 0; pass < 2; pass++) {
            for (int i = 0; i < objects; i++) {
                three.eachServes("/b/set" + i, random(100 + i, RUNS * RUN));
            }
        }
        long fetched = three.store.requests()
                .stream()
                .filter(each -> each.startsWith("GET /b/set"))
                .count();
        // The set is 1.5 times one memory; without shares each of six passes would fetch it whole.
        assertThat(fetched).isLessThan(2L * objects * RUNS);
    }

    @Test
    void aMemberThatGoesFailsNoRead() {
        byte[][] objects = new byte[8][];
        for (int i = 0; i < objects.length; i++) {
            objects[i] = random(200 + i, RUNS * RUN);
            three.store.put("/b/going" + i, objects[i]);
        }
        List<CompletableFuture<HttpResponse<byte[]>>> reads = new ArrayList<>();
        for (int i = 0; i < objects.length; i++) {
            reads.add(three.clients.get(i % 2).sendAsync("GET", "/b/going" + i, new byte[0]));
            if (i == objects.length / 2) {
                stopped = three.gateways.getLast();
                three.gateways.getLast().close();
            }
        }
        for (int i = 0; i < objects.length; i++) {
            assertThat(reads.get(i).join().statusCode()).isEqualTo(200);
            assertThat(reads.get(i).join().body()).isEqualTo(objects[i]);
        }
    }

    @Test
    void whatIsPutThroughOneIsReadThroughTheOthersOfItsOwners() {
        for (int i = 0; i < 5; i++) {
            byte[] object = random(300 + i, 3 * RUN + i);
            assertThat(three.clients.get(i % 3).put("/b/put", object).statusCode()).isEqualTo(200);
            three.eachServes("/b/put", object);
        }
        assertThat(filled()).isPositive();
    }

    /** An owner may not have evicted it yet when this gateway reads it again. */
    @Test
    void whatWasEvictedIsNotTakenFromAnotherGateway() {
        byte[] object = random(5, 4 * RUN);
        three.store.put("/b/evicted", object);
        three.eachServes("/b/evicted", object);
        TestGateway first = three.gateways.getFirst();
        double before = first.metric(FILLED);
        long asked = gets("/b/evicted");
        HttpResponse<byte[]> answer = new TestClient(first::admin, "AK", "SK").send("POST",
                "/.railhead/admin/evict",
                JsonObject.of("bucket", "b", "key", "evicted").encode().getBytes(UTF_8));
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(three.clients.getFirst().get("/b/evicted").body()).isEqualTo(object);
        assertThat(first.metric(FILLED)).isEqualTo(before);
        assertThat(gets("/b/evicted")).isEqualTo(asked + 4);
    }

    /** An owner could not compare its pages with the store's checksum of the whole object. */
    @Test
    void whatMustBeVerifiedComesFromTheStore() {
        byte[] object = random(6, 4 * RUN);
        three.store.put("/verified/object", object);
        three.eachServes("/verified/object", object);
        assertThat(filled()).isZero();
    }

    @Test
    void randomRangesAreRight() {
        long seed = Long.getLong("railhead.seed", 1);
        Random random = new Random(seed);
        byte[][] objects = new byte[4][];
        for (int i = 0; i < objects.length; i++) {
            objects[i] = random(400 + i, 1 + random.nextInt(6 * RUN));
            three.store.put("/b/range" + i, objects[i]);
        }
        for (int i = 0; i < 150; i++) {
            int which = random.nextInt(objects.length);
            int from = random.nextInt(objects[which].length);
            int to = from + 1 + random.nextInt(objects[which].length - from);
            TestClient client = three.clients.get(random.nextInt(3));
            assertThat(client.get("/b/range" + which, "range", "bytes=" + from + "-" + (to - 1))
                    .body()).as("seed %d, read %d", seed, i)
                    .isEqualTo(Arrays.copyOfRange(objects[which], from, to));
        }
    }

    @Test
    void aMemberOfAnotherRunSizeSharesNothing() {
        TestGateway other = three.gateways.getLast();
        byte[] object = random(500, 4 * RUN);
        three.restart(2, CONFIG.replace("run: 512KiB", "run: 1MiB"));
        three.store.put("/b/differs", object);
        double before = other.metric(FILLED);
        three.eachServes("/b/differs", object);
        assertThat(other.metric(FILLED)).isEqualTo(before);
        assertThat(other.status().getJsonObject("cluster").encode()).contains("cache.run");
    }

    /** Pages that were cached here stay right when their store has something else. */
    @Test
    void aChangeAtTheStoreIsSeenThroughOwners() {
        three.store.put("/b/changed", random(600, 2 * RUN + PAGE));
        three.eachServes("/b/changed", random(600, 2 * RUN + PAGE));
        three.store.put("/b/changed", random(601, 2 * RUN + PAGE));
        TestClient asking = three.clients.getFirst();
        assertThat(asking.get("/b/changed", "cache-control", "no-cache").body())
                .isEqualTo(random(601, 2 * RUN + PAGE));
        three.eachServes("/b/changed", random(601, 2 * RUN + PAGE));
        await(() -> three.gateways.stream().allMatch(each -> each.memory().leases() == 0));
    }
}
