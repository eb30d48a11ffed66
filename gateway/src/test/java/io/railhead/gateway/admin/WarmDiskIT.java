package io.railhead.gateway.admin;

import static io.railhead.gateway.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.os.RequiresDirectFiles;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Objects that an operator puts on the disks before anybody reads them. */
@RequiresDirectFiles
class WarmDiskIT {
    /** More than memory holds. */
    private static final int OBJECTS = 60;
    private static final int BYTES = (1 << 20) - 777;
    private static final String PRESSURE = "railhead_evicted_pages_total{cause=\"pressure\",}";

    @TempDir
    Path folder;

    private final FakeStore store = new FakeStore();
    private final TestGateway gateway = TestGateway.over(store).principals("""
            principals:
              - name: operator
                keys: [{access_key: AK, secret_key: SK}]
                admin: true
            """);
    private final TestClient client = gateway.client();
    private final TestClient admin = new TestClient(gateway::admin, "AK", "SK");

    @BeforeEach
    void start() {
        for (int i = 0; i < OBJECTS; i++) {
            store.put(path(i), random(i, BYTES));
        }
    }

    @AfterEach
    void close() {
        gateway.close();
    }

    private static String path(int number) {
        return "/b/set/" + (100 + number);
    }

    private void startWith(String size, String more) {
        gateway.config("""
                cache: {memory: 32MiB, page: 64KiB, window: 1MiB, run: 256KiB,
                  disk: {paths: ["%s"], size: %s%s}}
                rules: [{freshness: strong}]
                """.formatted(folder.resolve("disk"), size, more)).start();
        TestGateway.await(() -> gateway.metric(
                "railhead_disk_volumes{state=\"recovering\",}") == 0);
    }

    private HttpResponse<byte[]> post(JsonObject body) {
        return admin.send("POST", "/.railhead/admin/warm",
                body.encode().getBytes(StandardCharsets.UTF_8));
    }

    private JsonObject warm(String bucket) {
        HttpResponse<byte[]> answer = post(
                JsonObject.of("bucket", bucket, "prefix", "", "tier", "disk"));
        String text = new String(answer.body(), StandardCharsets.UTF_8);
        assertThat(answer.statusCode()).as(text).isEqualTo(200);
        return new JsonObject(text.lines().toList().getLast());
    }

    private void awaitWritten() {
        TestGateway.await(() -> gateway.metric("railhead_disk_queued_bytes") == 0);
    }

    @Test
    void farMoreThanMemoryIsReadWithoutTheStoresBytes() {
        startWith("256MiB", ", writes_per_day: 0");
        JsonObject done = warm("b");
        assertThat(done.getString("state")).as(done.encode()).isEqualTo("done");
        assertThat(done.getLong("objects")).as(done.encode()).isEqualTo(OBJECTS);
        assertThat(done.getLong("bytes")).isEqualTo((long) OBJECTS * BYTES);
        awaitWritten();
        int before = store.requests().size();
        for (int i = 0; i < OBJECTS; i++) {
            assertThat(client.get(path(i)).body()).isEqualTo(random(i, BYTES));
        }
        List<String> asked = store.requestsAfter(before);
        assertThat(asked).allMatch(request -> request.startsWith("HEAD "));

        JsonObject again = warm("b");
        assertThat(again.getLong("held")).as(again.encode()).isEqualTo(OBJECTS);
        assertThat(again.getLong("bytes")).isZero();
    }

    /** A run that came for the disk's sake goes from memory first. */
    @Test
    void whatWasCachedStaysInMemoryAndIsOnDiskToo() {
        startWith("256MiB", ", writes_per_day: 0");
        for (int i = 0; i < 4; i++) {
            client.get(path(i));
        }
        JsonObject done = warm("b");
        assertThat(done.getLong("objects")).as(done.encode()).isEqualTo(OBJECTS);
        awaitWritten();
        assertThat(gateway.metric(PRESSURE)).isZero();
        double read = gateway.metric("railhead_disk_pages_total{result=\"read\",}");
        for (int i = 0; i < 4; i++) {
            assertThat(client.get(path(i)).body()).isEqualTo(random(i, BYTES));
        }
        assertThat(gateway.metric("railhead_disk_pages_total{result=\"read\",}")).isEqualTo(read);
        assertThat(gateway.metric("railhead_disk_cached_pages")).isEqualTo(OBJECTS * 16);
    }

    @Test
    void warmingStopsWhereItsOwnWouldGo() {
        startWith("256MiB", ", writes_per_day: 0");
        for (int i = OBJECTS; i < 300; i++) {
            store.put(path(i), random(i, BYTES));
        }
        JsonObject full = warm("b");
        assertThat(full.getString("state")).as(full.encode()).isEqualTo("full");
        assertThat(full.getLong("objects")).isBetween(100L, 256L);
        assertThat(full.getLong("cache_bytes")).isBetween(100L << 20, 256L << 20);
        assertThat(full.getLong("room_bytes")).isLessThan(8L << 20);
        assertThat(full.getString("last_key")).startsWith("set/");
    }

    @Test
    void smallObjectsAreNotKeptThere() {
        startWith("256MiB", ", writes_per_day: 0, min_object: 16KiB");
        store.put("/small/a", random(1, 1000));
        assertThat(warm("small").getLong("not_cached")).isEqualTo(1);
    }

    @Test
    void itNeedsADisk() {
        gateway.start();
        HttpResponse<byte[]> answer = post(JsonObject.of("bucket", "b", "keys",
                JsonArray.of("set/100"), "tier", "disk"));
        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(new String(answer.body(), StandardCharsets.UTF_8))
                .contains("The gateway has no disks");
        answer = post(JsonObject.of("bucket", "b", "prefix", "", "tier", "tape"));
        assertThat(new String(answer.body(), StandardCharsets.UTF_8))
                .contains("tier is memory or disk.");
    }
}
