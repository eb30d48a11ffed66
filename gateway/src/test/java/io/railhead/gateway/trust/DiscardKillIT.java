package io.railhead.gateway.trust;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.GatewayProcess;
import io.railhead.gateway.RandomBytes;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.os.RequiresDirectFiles;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A gateway that is killed by SIGKILL while an administrator discards pending writes, again and
 * again. No discard that was answered comes back, and no other write is lost.
 */
@RequiresDirectFiles
class DiscardKillIT {
    private static final int KILLS = 3;
    private static final int OBJECTS = 12;
    /** Each so-many-th object is never discarded. */
    private static final int KEPT = 3;

    @TempDir
    private Path folder;

    private final FakeStore store = new FakeStore();
    private volatile boolean isRefusing = true;
    private final Set<String> written = ConcurrentHashMap.newKeySet();
    private final Set<String> asked = ConcurrentHashMap.newKeySet();
    private final Set<String> answered = ConcurrentHashMap.newKeySet();

    @AfterEach
    void close() {
        store.close();
    }

    private static byte[] bytes(String key) {
        return RandomBytes.random(key.hashCode(), 100_000);
    }

    private Path config(int adminPort) throws Exception {
        Files.writeString(folder.resolve("credentials.yaml"), """
                principals:
                  - name: trainer
                    keys: [{access_key: AK, secret_key: SK}]
                    backend_credential: {access_key: STORE, secret_key: store-secret}
                  - name: operator
                    keys: [{access_key: ADMIN, secret_key: admin-secret}]
                    admin: true
                """);
        Files.writeString(folder.resolve("policy.json"), """
                {"Version": "2012-10-17", "Statement": [{"Effect": "Allow",
                  "Principal": "trainer", "Action": "s3:*", "Resource": "arn:aws:s3:::*"}]}
                """);
        return Files.writeString(folder.resolve("railhead.yaml"), """
                gateway: {listen: "127.0.0.1:0", health: "127.0.0.1:0", sole: true,
                  credentials: credentials.yaml, policy: policy.json}
                admin: {listen: "127.0.0.1:%d"}
                cache: {memory: 64MiB}
                write_back: {path: "%s", size: 64MiB}
                rules: [{bucket: "ckpt*", acknowledge: disk, copies: 1}]
                backends: {store: {endpoints: ["%s"]}}
                """.formatted(adminPort, folder.resolve("log"), store.endpoint()));
    }

    @Test
    void noAnsweredDiscardComesBackAndNoOtherWriteIsLost() throws Exception {
        int adminPort = GatewayProcess.freePort();
        Path config = config(adminPort);
        TestClient admin = new TestClient(URI.create("http://127.0.0.1:" + adminPort), "ADMIN",
                "admin-secret");
        store.fault((exchange, _) -> {
            boolean isRefused = isRefusing && exchange.getRequestMethod().equals("PUT");
            if (isRefused) {
                FakeStore.answerQuietly(exchange, 503);
            }
            return isRefused;
        });
        for (int kill = 0; kill < KILLS; kill++) {
            String bucket = "ckpt" + kill;
            store.put("/" + bucket, "<VersioningConfiguration/>".getBytes(UTF_8));
            try (GatewayProcess gateway = GatewayProcess.start(config, "-Xmx512m")) {
                requireRight(pending(admin).keySet());
                write(new TestClient(gateway.endpoint(), "AK", "SK"), bucket);
                discardUntilKilled(gateway, admin, 2 + kill);
            }
        }
        assertThat(answered).hasSizeGreaterThanOrEqualTo(2 * KILLS);
        try (GatewayProcess gateway = GatewayProcess.start(config, "-Xmx512m")) {
            Set<String> left = pending(admin).keySet();
            requireRight(left);
            isRefusing = false;
            TestGateway.await(() -> gateway.metric("railhead_write_back_pending") == 0);
            left.forEach(path -> assertThat(store.object(path)).isEqualTo(bytes(path)));
            answered.forEach(path -> assertThat(store.object(path)).isNull());
        }
    }

    private void requireRight(Set<String> pending) {
        assertThat(pending).as("brought back").noneMatch(answered::contains);
        assertThat(pending).as("lost")
                .containsAll(written.stream()
                        .filter(path -> !asked.contains(path))
                        .toList());
    }

    /** Writes objects that wait behind the first one, which the store does not take. */
    private void write(TestClient trainer, String bucket) {
        for (int i = 0; i < OBJECTS; i++) {
            String path = "/" + bucket + "/" + i;
            HttpResponse<byte[]> stored = trainer.put(path, bytes(path));
            assertThat(stored.headers().firstValue("x-railhead-acknowledged")).hasValue("disk");
            written.add(path);
        }
    }

    /** Returns the ids of pending writes by their paths, in the order of their names. */
    private static Map<String, String> pending(TestClient admin) {
        Map<String, String> found = new TreeMap<>();
        new JsonObject(new String(admin.send("POST", "/.railhead/admin/pending",
                "{}".getBytes(UTF_8)).body(), UTF_8)).getJsonArray("pending").forEach(each -> {
                    JsonObject write = (JsonObject) each;
                    found.put("/" + write.getString("bucket") + "/" + write.getString("key"),
                            write.getString("id"));
                });
        return found;
    }

    private void discardUntilKilled(GatewayProcess gateway, TestClient admin, int answers)
            throws Exception {
        int left = answers;
        try {
            for (Map.Entry<String, String> write : pending(admin).entrySet()) {
                String[] name = write.getKey().split("/", 3);
                if (Integer.parseInt(name[2]) % KEPT != 0) {
                    discard(admin, write.getKey(), JsonObject.of("bucket", name[1], "key", name[2],
                            "id", write.getValue()));
                    left--;
                    if (left == 0) {
                        Thread.ofPlatform().start(() -> kill(gateway));
                    }
                }
            }
        } catch (CompletionException _) {
            // The kill has cut the connection.
            assertThat(left).isLessThanOrEqualTo(0);
        }
        kill(gateway);
    }

    private static void kill(GatewayProcess gateway) {
        try {
            gateway.kill();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void discard(TestClient admin, String path, JsonObject name) {
        asked.add(path);
        HttpResponse<byte[]> answer = admin.send("POST", "/.railhead/admin/discard",
                name.encode().getBytes(UTF_8));
        assertThat(answer.statusCode()).as(new String(answer.body(), UTF_8)).isEqualTo(200);
        answered.add(path);
    }
}
