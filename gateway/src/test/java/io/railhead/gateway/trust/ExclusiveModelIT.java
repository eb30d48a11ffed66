package io.railhead.gateway.trust;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Readers and writers at random under {@code exclusive}: what is read is never older than the last
 * write that was answered before the read began.
 */
class ExclusiveModelIT {
    private static final int KEYS = 3;
    private static final int WRITES = 60;
    private static final int READERS = 4;
    private static final int BYTES = 100_000;

    /** What one key went through; version n is an object that begins with n, or its absence. */
    private static final class Model {
        private final AtomicInteger begun = new AtomicInteger();
        private final AtomicInteger answered = new AtomicInteger();
        private final Set<Integer> deletions = ConcurrentHashMap.newKeySet();
    }

    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            gateway:
              sole: true
            rules:
              - cache: reads+writes
                freshness: {exclusive: 1h}
            """).principals(TestGateway.TRAINER + TestGateway.OTHER);

    private static byte[] object(int version) {
        return ByteBuffer.allocate(BYTES).putInt(version).array();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void aHitIsNeverOlderThanTheLastAnsweredWrite(long seed) throws Exception {
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Model> models = new ArrayList<>();
            for (int key = 0; key < KEYS; key++) {
                models.add(new Model());
                store.put("/b/" + key, object(0));
            }
            Random faults = new Random(seed);
            store.fault((exchange, bytes) -> {
                boolean isLost;
                synchronized (faults) {
                    isLost = faults.nextInt(40) == 0;
                }
                if (isLost && exchange.getRequestMethod().equals("PUT")) {
                    store.put(exchange.getRequestURI().getPath(), bytes);
                    exchange.close();
                    return true;
                }
                return false;
            });
            AtomicBoolean over = new AtomicBoolean();
            List<Future<?>> reads = new ArrayList<>();
            for (int reader = 0; reader < READERS; reader++) {
                Random random = new Random(seed * 31 + reader);
                TestClient client = reader % 2 == 0
                        ? gateway.client()
                        : gateway.client("OTHER", "other-secret");
                reads.add(threads.submit(() -> {
                    while (!over.get()) {
                        int key = random.nextInt(KEYS);
                        read(client, key, models.get(key));
                    }
                }));
            }
            List<Future<?>> writes = new ArrayList<>();
            for (int key = 0; key < KEYS; key++) {
                int mine = key;
                Random random = new Random(seed * 37 + key);
                writes.add(threads.submit(() -> {
                    TestClient client = gateway.client();
                    for (int i = 0; i < WRITES; i++) {
                        write(client, mine, models.get(mine), random);
                    }
                }));
            }
            try {
                for (Future<?> write : writes) {
                    write.get();
                }
            } finally {
                over.set(true);
            }
            for (Future<?> read : reads) {
                read.get();
            }
            for (int key = 0; key < KEYS; key++) {
                read(gateway.client(), key, models.get(key));
            }
            assertThat(gateway.metric("railhead_cache_requests_total{result=\"hit\",}"))
                    .as("hits, seed " + seed)
                    .isPositive();
            TestGateway.await(() -> gateway.metric("railhead_staged_bytes") == 0);
            gateway.assertNoLease();
        }
    }

    private static void write(TestClient client, int key, Model model, Random random) {
        int version = model.begun.incrementAndGet();
        String path = "/b/" + key;
        int status;
        if (random.nextInt(5) == 0) {
            model.deletions.add(version);
            status = client.delete(path).statusCode();
        } else if (random.nextBoolean()) {
            status = client.put(path, object(version)).statusCode();
        } else {
            status = client.send("POST", path + "?uploadId=1", object(version)).statusCode();
        }
        if (status < 300) {
            model.answered.set(version);
        }
    }

    private static void read(TestClient client, int key, Model model) {
        int atLeast = model.answered.get();
        HttpResponse<byte[]> answer;
        try {
            answer = client.get("/b/" + key);
        } catch (CompletionException e) {
            return; // a body that a write has overtaken is cut
        }
        int atMost = model.begun.get();
        if (answer.statusCode() == 404) {
            assertThat(model.deletions.stream().anyMatch(v -> v >= atLeast && v <= atMost))
                    .as("gone although %d was answered", atLeast)
                    .isTrue();
        } else if (answer.statusCode() == 200) {
            assertThat(answer.body()).hasSize(BYTES);
            assertThat(ByteBuffer.wrap(answer.body()).getInt()).as("key %d", key)
                    .isBetween(atLeast, atMost);
        }
    }
}
