package io.railhead.gateway.object.cacheonly;

import static io.railhead.gateway.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.os.RequiresDirectFiles;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Objects of a rule with durability: none and tier: disk, by HTTP. */
@RequiresDirectFiles
class CacheOnlyDiskIT {
    private static final String POLICY = """
            {"Version": "2012-10-17", "Statement": [
              {"Effect": "Allow", "Principal": "*", "Action": "s3:*", "Resource": "arn:aws:s3:::*"}]}
            """;
    private static final int OBJECT = 1 << 20;
    /** More than memory holds. */
    private static final int COUNT = 120;

    private final FakeStore store = new FakeStore();
    private final TestGateway gateway = TestGateway.over(store).file("policy.json", POLICY);
    private final TestClient client = gateway.client();

    @TempDir
    Path folder;

    @BeforeEach
    void start() {
        gateway.config("""
                gateway: {policy: policy.json}
                cache: {memory: 80MiB, disk: {paths: ["%s"], size: 1GiB}}
                rules:
                  - {bucket: kv-*, durability: none, tier: disk}
                """.formatted(folder.resolve("disk"))).start();
        TestGateway.await(() -> gateway.metric(
                "railhead_disk_volumes{state=\"recovering\",}") == 0);
    }

    @AfterEach
    void close() {
        gateway.close();
    }

    @Test
    void moreThanMemoryHoldsIsReadBackUnlessItWasDeleted() {
        for (int i = 0; i < COUNT; i++) {
            HttpResponse<byte[]> put = client.put("/kv-a/k" + i, random(i, OBJECT));
            assertThat(put.statusCode()).isEqualTo(200);
        }
        int read = 0;
        for (int i = 0; i < COUNT; i++) {
            HttpResponse<byte[]> got = client.get("/kv-a/k" + i);
            if (got.statusCode() == 200) {
                assertThat(got.body()).isEqualTo(random(i, OBJECT));
                read++;
            }
        }
        // Some are evicted while the disk's queue is full.
        assertThat(read).isGreaterThan(90);
        assertThat(gateway.metric("railhead_cache_only_moved_total{direction=\"up\",}"))
                .isPositive();
        assertThat(store.requests()).isEmpty();
    }
}
