package io.railhead.gateway.admission;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.GatewayProcess;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A gateway that may know far more objects than its heap has room for. */
@Tag("long")
class HeapPressureIT {
    private static final int OBJECTS = 9_000;
    private static final int AT_ONCE = 100;
    private static final int METADATA_BYTES = 6000;

    @TempDir
    private Path folder;

    private Path config(FakeStore store) throws IOException {
        Files.writeString(folder.resolve("credentials.yaml"), TestGateway.TRAINER);
        return Files.writeString(folder.resolve("railhead.yaml"), """
                gateway:
                  listen: 127.0.0.1:0
                  health: 127.0.0.1:0
                  credentials: credentials.yaml
                admin: {enabled: false}
                rdma: {loopback: {enabled: false}}
                cache: {memory: 64MiB}
                backends:
                  store:
                    endpoints: [%s]
                rules:
                  - freshness: immutable
                """.formatted(store.endpoint()));
    }

    @Test
    void itForgetsRatherThanDies() throws Exception {
        Map<Integer, Integer> answers = new TreeMap<>();
        double highest = 0;
        try (FakeStore store = new FakeStore();
                GatewayProcess running = GatewayProcess.start(config(store), "-Xmx72m",
                        "-XX:+UseG1GC")) {
            store.fault((exchange, _) -> {
                exchange.getResponseHeaders()
                        .set("x-amz-meta-long", metadata(exchange.getRequestURI().getPath()));
                return false;
            });
            TestClient client = new TestClient(running.endpoint(), "AK", "SK");
            for (int i = 0; i < OBJECTS; i += AT_ONCE) {
                for (HttpResponse<byte[]> answer : readMany(store, client, i)) {
                    answers.merge(checked(answer), 1, Integer::sum);
                }
                highest = Math.max(highest, running.metric("railhead_heap_pressure"));
            }
            assertThat(answers.keySet()).isSubsetOf(200, 503);
            assertThat(answers.get(200)).isGreaterThan(OBJECTS / 2);
            assertThat(highest).isPositive();
            TestGateway.await(() -> running.metric("railhead_heap_pressure") == 0);
            store.put("/b/new", new byte[100]);
            TestGateway.await(() -> isHit(client));
            running.terminate();
            assertThat(running.log()).contains("nothing new is cached")
                    .contains("all is as usual again")
                    .doesNotContain("OutOfMemoryError");
        }
    }

    private static List<HttpResponse<byte[]>> readMany(FakeStore store, TestClient client,
            int first) {
        return IntStream.range(first, first + AT_ONCE).mapToObj(i -> {
            store.put("/b/" + i, new byte[100]);
            return client.sendAsync("GET", "/b/" + i, new byte[0]);
        }).toList().stream().map(CompletableFuture::join).toList();
    }

    private static int checked(HttpResponse<byte[]> answer) {
        if (answer.statusCode() == 200) {
            assertThat(answer.body()).hasSize(100);
            assertThat(answer.headers().firstValue("x-amz-meta-long"))
                    .contains(metadata(answer.uri().getPath()));
        } else {
            assertThat(answer.headers().firstValue("retry-after")).isPresent();
        }
        return answer.statusCode();
    }

    /** Each object's own, so that no two share it. */
    private static String metadata(String path) {
        StringBuilder text = new StringBuilder(METADATA_BYTES);
        new Random(path.hashCode()).ints(METADATA_BYTES, 'a', 'z')
                .forEach(letter -> text.append((char) letter));
        return text.toString();
    }

    private static boolean isHit(TestClient client) {
        return client.get("/b/new")
                .headers()
                .firstValue("x-cache")
                .filter("HIT"::equals)
                .isPresent();
    }
}
