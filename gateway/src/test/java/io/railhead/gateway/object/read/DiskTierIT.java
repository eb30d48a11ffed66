package io.railhead.gateway.object.read;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.RandomBytes;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.os.RequiresDirectFiles;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A gateway with a disk below its memory. */
@RequiresDirectFiles
class DiskTierIT {
    private static final int OBJECTS = 12;
    private static final int BYTES = (1 << 20) - 777;

    @TempDir
    Path folder;

    private final FakeStore store = new FakeStore();
    private final TestGateway gateway = TestGateway.over(store);
    private final TestClient client = gateway.client();

    @BeforeEach
    void start() {
        for (int i = 0; i < OBJECTS; i++) {
            store.put(path(i), bytes(i));
        }
    }

    @AfterEach
    void close() {
        gateway.close();
    }

    private static String path(int number) {
        return "/b/object-" + number;
    }

    private static byte[] bytes(int number) {
        return RandomBytes.random(number, BYTES);
    }

    private String config(String memory, String freshness) {
        return """
                cache: {memory: %s, page: 64KiB, window: 2MiB, run: 1MiB,
                  disk: {paths: ["%s"], size: 256MiB, writes_per_day: 0}}
                rules: [{bucket: "*", freshness: %s}]
                """.formatted(memory, folder.resolve("disk"), freshness);
    }

    private void startWith(String memory, String freshness) {
        gateway.config(config(memory, freshness)).start();
        awaitKnown();
    }

    private void awaitKnown() {
        TestGateway.await(() -> gateway.metric(
                "railhead_disk_volumes{state=\"recovering\",}") == 0);
    }

    private void readAll() {
        for (int i = 0; i < OBJECTS; i++) {
            assertThat(client.get(path(i)).body()).isEqualTo(bytes(i));
        }
    }

    /**
     * Reads until no byte comes from the store. Memory grows after the start, and until then a fill
     * may evict pages that it does not offer to the disk.
     */
    private void readUntilHeld() {
        TestGateway.await(() -> {
            int before = store.requests().size();
            readAll();
            return store.requestsAfter(before).stream().noneMatch(each -> each.startsWith("GET "));
        });
    }

    private void awaitWritten() {
        TestGateway.await(() -> gateway.metric("railhead_disk_queued_bytes") == 0);
    }

    @Test
    void afterARestartEachObjectCostsOneHeadAndNoGet() {
        startWith("64MiB", "strong");
        readUntilHeld();
        gateway.restart(config("64MiB", "strong"));
        awaitKnown();
        int before = store.requests().size();
        readAll();
        List<String> asked = store.requestsAfter(before);
        assertThat(asked).hasSize(OBJECTS).allMatch(request -> request.startsWith("HEAD "));
        // As before: from memory now, still asked once each.
        before = store.requests().size();
        readAll();
        assertThat(store.requestsAfter(before)).hasSize(OBJECTS)
                .allMatch(request -> request.startsWith("HEAD "));
    }

    @Test
    void afterARestartImmutableObjectsAreAskedForOnce() {
        startWith("64MiB", "immutable");
        readUntilHeld();
        gateway.restart(config("64MiB", "immutable"));
        awaitKnown();
        int before = store.requests().size();
        readAll();
        assertThat(store.requestsAfter(before)).hasSize(OBJECTS)
                .allMatch(request -> request.startsWith("HEAD "));
        before = store.requests().size();
        readAll();
        assertThat(store.requestsAfter(before)).isEmpty();
    }

    @Test
    void aWorkingSetLargerThanMemoryIsServedFromDisk() {
        startWith("6MiB", "immutable");
        for (int pass = 0; pass < 3; pass++) {
            for (int i = 0; i < OBJECTS; i++) {
                assertThat(client.get(path(i)).body()).isEqualTo(bytes(i));
                awaitWritten();
            }
        }
        long gets = store.requests().stream().filter(each -> each.startsWith("GET ")).count();
        assertThat(gateway.metric("railhead_disk_pages_total{result=\"read\",}")).isPositive();
        // Without a disk it would be two and more for each object in each pass.
        assertThat(gets).isLessThan(OBJECTS * 4);
    }

    @Test
    void overwrittenObjectsAreNeverServedOld() {
        startWith("6MiB", "strong");
        readAll();
        awaitWritten();
        for (int i = 0; i < OBJECTS; i++) {
            byte[] other = RandomBytes.random(1000 + i, BYTES);
            if (i % 2 == 0) {
                assertThat(client.put(path(i), other).statusCode()).isEqualTo(200);
            } else {
                store.put(path(i), other);
            }
        }
        for (int pass = 0; pass < 2; pass++) {
            for (int i = 0; i < OBJECTS; i++) {
                assertThat(client.get(path(i)).body())
                        .isEqualTo(RandomBytes.random(1000 + i, BYTES));
            }
            gateway.restart(config("6MiB", "strong"));
            awaitKnown();
        }
    }

    @Test
    void deletedObjectsAreGone() {
        startWith("6MiB", "strong");
        readAll();
        assertThat(client.delete(path(0)).statusCode()).isEqualTo(204);
        assertThat(client.get(path(0)).statusCode()).isEqualTo(404);
        gateway.restart(config("6MiB", "strong"));
        awaitKnown();
        assertThat(client.get(path(0)).statusCode()).isEqualTo(404);
    }

    @Test
    void aDiskServesNobodyWhomTheStoreRefuses() {
        startWith("64MiB", "immutable");
        readUntilHeld();
        gateway.restart(config("64MiB", "immutable"));
        awaitKnown();
        store.deny("AK");
        assertThat(client.get(path(0)).statusCode()).isEqualTo(403);
    }
}
