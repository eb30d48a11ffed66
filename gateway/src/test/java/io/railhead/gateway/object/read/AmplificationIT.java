package io.railhead.gateway.object.read;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.frontdoor.RawConnection;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How often a store is asked that refuses some requests. */
class AmplificationIT {
    private static final long SEED = Long.getLong("railhead.seed", 1);
    private static final double REFUSED = 0.3;
    private static final int OBJECTS = 300;
    /** {@code max_attempts} where nobody set it. */
    private static final int ATTEMPTS = 3;
    private static final byte[] OBJECT = new byte[1000];
    private static final String HELD = "/held/object";
    private static final int WARMING_TURNS = 10;
    private static final int TURNS = 42;
    private static final int HITS_OF_A_TURN = 2000;
    private static final int HITS_OF_A_COLD_READ = 20;

    private final Map<String, Integer> asked = new ConcurrentHashMap<>();

    /** Drawn from the seed, and from what is asked for how many times. */
    private static boolean isRefused(String path, int attempt) {
        return new SplittableRandom(SEED * 31 + path.hashCode() * 0x9E3779B97F4A7C15L + attempt)
                .nextDouble() < REFUSED;
    }

    /**
     * One more for each refusal, up to so many; that the last is refused, too, the client hears.
     */
    private static int attempts(String path) {
        int attempt = 1;
        while (attempt < ATTEMPTS && isRefused(path, attempt)) {
            attempt++;
        }
        return attempt;
    }

    private boolean refuse(HttpExchange exchange) {
        String path = exchange.getRequestURI().getPath();
        boolean refused = isRefused(path, asked.merge(path, 1, Integer::sum));
        if (refused) {
            FakeStore.answerQuietly(exchange, 503);
        }
        return refused;
    }

    /** No layer adds retries to another's, and hits ask nothing meanwhile. */
    @Test
    void eachRefusalIsAskedAgainOnceAndNothingElseIs() {
        try (FakeStore store = new FakeStore();
                TestGateway gateway = TestGateway.over(store).config("""
                        rules:
                          - {bucket: held, freshness: immutable}
                        """).start()) {
            TestClient client = gateway.client();
            store.put(HELD, OBJECT);
            client.get(HELD);
            store.fault((exchange, _) -> refuse(exchange));
            Map<String, Integer> expected = new HashMap<>();
            Map<String, CompletableFuture<HttpResponse<byte[]>>> answers = new HashMap<>();
            for (int i = 0; i < OBJECTS; i++) {
                String path = "/held/cold" + i;
                store.put(path, OBJECT);
                expected.put(path, attempts(path));
                answers.put(path, client.sendAsync("GET", path, new byte[0]));
                assertThat(client.get(HELD).statusCode()).isEqualTo(200);
            }
            answers.forEach((path, answer) -> assertThat(answer.join().statusCode()).as(path)
                    .isEqualTo(isRefused(path, attempts(path)) ? 503 : 200));
            assertThat(asked).isEqualTo(expected);
            int sent = expected.values().stream().mapToInt(Integer::intValue).sum();
            System.out.printf("seed %d: %d requests to the store for %d: %.2f times%n", SEED, sent,
                    OBJECTS, (double) sent / OBJECTS);
        }
    }

    /** By turns, with the same cold reads beside them; what each took is said and not judged. */
    @Test
    @Tag("long")
    void hitsAreServedAllTheWhile() {
        try (FakeStore store = new FakeStore();
                TestGateway gateway = TestGateway.over(store).config("""
                        rules:
                          - {bucket: held, freshness: immutable}
                        """).start();
                RawConnection raw = new RawConnection(gateway.endpoint())) {
            TestClient client = gateway.client();
            store.put(HELD, OBJECT);
            client.get(HELD);
            String hit = RawConnection.head(client.signed("GET", HELD, new byte[0])) + "\r\n";
            List<Double> healthy = new ArrayList<>();
            List<Double> refusing = new ArrayList<>();
            for (int turn = -WARMING_TURNS; turn < TURNS; turn++) {
                boolean refuses = turn % 2 != 0;
                store.fault((exchange, _) -> refuses && refuse(exchange));
                double micros = tailMicros(store, client, raw, hit, "/held/t" + turn + "-");
                if (turn >= 0) {
                    (refuses ? refusing : healthy).add(micros);
                }
            }
            System.out.printf("p99 of hits, median of %d turns each: %.0f us, and %.0f us while"
                    + " the store refuses %.0f %%%n", TURNS / 2, median(healthy), median(refusing),
                    REFUSED * 100);
        }
    }

    /** One after another, while each so many of them have a cold read beside them. */
    private static double tailMicros(FakeStore store, TestClient client, RawConnection raw,
            String hit, String cold) {
        List<CompletableFuture<?>> colds = new ArrayList<>();
        long[] nanos = new long[HITS_OF_A_TURN];
        for (int i = 0; i < nanos.length; i++) {
            if (i % HITS_OF_A_COLD_READ == 0) {
                store.put(cold + i, OBJECT);
                colds.add(client.sendAsync("GET", cold + i, new byte[0]));
            }
            long begun = System.nanoTime();
            assertThat(raw.send(hit).receive().headers()).containsEntry("x-cache", "HIT");
            nanos[i] = System.nanoTime() - begun;
        }
        colds.forEach(CompletableFuture::join);
        Arrays.sort(nanos);
        return nanos[nanos.length * 99 / 100] / 1e3;
    }

    private static double median(List<Double> values) {
        return values.stream().sorted().toList().get(values.size() / 2);
    }
}
