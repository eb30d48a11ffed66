package io.railhead.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import java.net.http.HttpResponse;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
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
                TestGateway gateway = TestGateway.over(store.endpoint(), """
                        rules:
                          - {bucket: held, freshness: immutable}
                        """)) {
            TestClient client = gateway.client("AK", "SK");
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
}
