package io.railhead.gateway.admin;

import static io.railhead.gateway.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.os.RequiresDirectFiles;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Administrators' calls about disks. */
@RequiresDirectFiles
class DiskAdminIT {
    private static final int BYTES = 300_000;

    @TempDir
    Path folder;

    private final FakeStore store = new FakeStore();
    private final TestGateway gateway = TestGateway.over(store).principals("""
            principals:
              - name: operator
                keys:
                  - {access_key: ADMIN, secret_key: admin-secret}
                  - {access_key: AK, secret_key: SK}
                admin: true
              - name: trainer
                tenant: team
                keys: [{access_key: TRAINER, secret_key: trainer-secret}]
            """);
    private final TestClient admin = new TestClient(gateway::admin, "ADMIN", "admin-secret");
    private final TestClient trainer = gateway.client("TRAINER", "trainer-secret");

    @BeforeEach
    void put() {
        for (int i = 0; i < 4; i++) {
            store.put("/b/set/" + i, random(i, BYTES));
            store.put("/b/other/" + i, random(100 + i, BYTES));
        }
    }

    @AfterEach
    void close() {
        gateway.close();
    }

    private String config(String disk) {
        return """
                cache: {memory: 32MiB, page: 64KiB, run: 256KiB, window: 1MiB,
                  disk: {paths: ["%s"], size: 512MiB, writes_per_day: 0%s}}
                rules: [{freshness: immutable, shared: true}]
                """.formatted(folder.resolve("disk"), disk);
    }

    private void restart(String disk) {
        gateway.restart(config(disk));
        awaitKnown();
    }

    private void awaitKnown() {
        TestGateway.await(() -> gateway.metric(
                "railhead_disk_volumes{state=\"recovering\",}") == 0);
    }

    private JsonObject call(String call, JsonObject body, int status) {
        HttpResponse<byte[]> answer = admin.send("POST", "/.railhead/admin/" + call,
                body.encode().getBytes(StandardCharsets.UTF_8));
        String text = new String(answer.body(), StandardCharsets.UTF_8);
        assertThat(answer.statusCode()).as(text).isEqualTo(status);
        return status == 200 ? new JsonObject(text.lines().toList().getLast()) : new JsonObject();
    }

    /** Returns how many reads of the four objects needed bytes of the store. */
    private long fetched(TestClient client, String prefix) {
        int before = store.requests().size();
        for (int i = 0; i < 4; i++) {
            assertThat(client.get("/b/" + prefix + i).body())
                    .isEqualTo(random((prefix.equals("set/") ? 0 : 100) + i, BYTES));
        }
        return store.requestsAfter(before).stream().filter(each -> each.startsWith("GET ")).count();
    }

    @Test
    void whatIsEvictedIsGoneFromDiskThoughMemoryKnowsNothingOfIt() {
        gateway.config(config("")).start();
        awaitKnown();
        assertThat(fetched(trainer, "set/")).isPositive();
        assertThat(fetched(trainer, "other/")).isPositive();
        restart("");
        assertThat(call("evict", JsonObject.of("bucket", "b", "prefix", "set/"), 200))
                .isEqualTo(JsonObject.of("objects", 0, "bytes", 0));
        restart("");
        assertThat(fetched(trainer, "other/")).isZero();
        assertThat(fetched(trainer, "set/")).isGreaterThanOrEqualTo(4);
        restart("");
        assertThat(fetched(trainer, "set/")).isZero();
    }

    @Test
    void aTenantIsErased() throws IOException {
        Path key = Files.writeString(folder.resolve("key"), "ab".repeat(32));
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
        String encrypted = ", encrypt: tenant, key_file: \"" + key + "\"";
        gateway.config(config(encrypted)).start();
        awaitKnown();
        assertThat(fetched(trainer, "set/")).isPositive();
        assertThat(fetched(gateway.client(), "other/")).isPositive();
        restart(encrypted);
        assertThat(fetched(trainer, "set/")).isZero();
        assertThat(call("erase", JsonObject.of("tenant", "team"), 200).getLong("objects"))
                .isEqualTo(4);
        assertThat(fetched(trainer, "other/")).isZero();
        restart(encrypted);
        assertThat(fetched(gateway.client(), "other/")).isZero();
        assertThat(fetched(trainer, "set/")).isGreaterThanOrEqualTo(4);
        call("erase", new JsonObject(), 400);
    }

    @Test
    void nothingIsErasedThatIsNotEncrypted() {
        gateway.config(config("")).start();
        call("erase", JsonObject.of("tenant", "team"), 409);
    }
}
