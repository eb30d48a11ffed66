package io.railhead.gateway.status;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestPeer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** What a rack might ask for in a few minutes, for a picture: popular objects, and some trouble. */
final class StatusLoad implements AutoCloseable {
    private static final int BUFFER = 8 << 20;
    private static final List<String> BUCKETS = List.of("models-llama-70b", "imagenet-shards",
            "tokens-2026-q3", "plain", "checkpoints-run-41", "embeddings");

    private final TestClient client;
    private final TestClient stranger;
    private final TestPeer peer;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final AtomicBoolean over = new AtomicBoolean();

    /** @param stranger whose signature is wrong */
    StatusLoad(FakeStore store, TestClient client, TestClient stranger) {
        this.client = client;
        this.stranger = stranger;
        Random random = new Random(1);
        for (String bucket : BUCKETS) {
            for (int i = 0; i < 16; i++) {
                store.put("/" + bucket + "/" + i, new byte[200_000 + random.nextInt(1_600_000)]);
            }
        }
        peer = new TestPeer(client, "SK", BUFFER);
    }

    /** Blocks for so long; the load goes on until this is closed. */
    void run(int seconds) throws InterruptedException {
        List<Integer> pauses = List.of(14, 22, 31, 40, 18, 26);
        for (int i = 0; i < pauses.size(); i++) {
            int seed = i;
            threads.execute(() -> ask(new Random(seed), pauses.get(seed), seed % 2 == 0));
        }
        TimeUnit.SECONDS.sleep(seconds);
    }

    private void ask(Random random, int pauseMillis, boolean oneSided) {
        long begun = System.nanoTime();
        while (!over.get()) {
            double minutes = (System.nanoTime() - begun) / 60e9;
            String bucket = BUCKETS.get(skewed(random, BUCKETS.size()));
            String path = "/" + bucket + "/" + skewed(random, 16);
            List<String> headers = new ArrayList<>();
            if (oneSided && random.nextInt(4) > 0) {
                headers.addAll(List.of(peer.headers(0, BUFFER)));
            }
            client.get(random.nextInt(150) == 0 ? "/" + bucket + "/gone" : path,
                    headers.toArray(String[]::new));
            if (random.nextInt(1500) == 0) {
                stranger.get(path);
            }
            pause((long) (pauseMillis * (1.6 + Math.sin(minutes * 4 + pauseMillis))));
        }
    }

    /** The lower the likelier. */
    private static int skewed(Random random, int bound) {
        return (int) (bound * Math.pow(random.nextDouble(), 2));
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(Duration.ofMillis(millis));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        over.set(true);
        threads.close();
        peer.close();
    }
}
