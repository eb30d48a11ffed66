package io.railhead.gateway.object.cacheonly;

import static io.railhead.gateway.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.os.RequiresDirectFiles;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.HeldKeys;
import io.railhead.protocol.channel.KeyBlock;
import io.railhead.protocol.channel.Request;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
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
    /** A half of what may wait for the disk. */
    private static final int OBJECT = 2 << 20;
    /** More than memory holds: 45 MiB. */
    private static final int COUNT = 28;

    private final FakeStore store = new FakeStore();
    private final TestGateway gateway = TestGateway.over(store).file("policy.json", POLICY);
    private final TestClient client = gateway.client();

    @TempDir
    Path folder;

    @BeforeEach
    void start() {
        gateway.config("""
                gateway: {policy: policy.json}
                cache: {memory: 64MiB, disk: {paths: ["%s"], size: 1GiB}}
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

    /** Puts more than memory holds, each after the disk has taken what made room. */
    private void fill() {
        for (int i = 0; i < COUNT; i++) {
            HttpResponse<byte[]> put = client.put("/kv-a/k" + i, random(i, OBJECT));
            assertThat(put.statusCode()).isEqualTo(200);
            settle();
        }
    }

    private void settle() {
        TestGateway.await(() -> gateway.metric("railhead_cache_only_leaving_bytes") == 0);
    }

    private double risen() {
        return gateway.metric("railhead_cache_only_moved_total{direction=\"up\",}");
    }

    @Test
    void moreThanMemoryHoldsIsReadBackUnlessItWasDeleted() {
        fill();
        assertThat(client.delete("/kv-a/k1").statusCode()).isEqualTo(204);
        for (int i = 0; i < COUNT; i++) {
            HttpResponse<byte[]> got = client.get("/kv-a/k" + i);
            assertThat(got.statusCode()).as("k%s", i).isEqualTo(i == 1 ? 404 : 200);
            if (i != 1) {
                assertThat(got.body()).isEqualTo(random(i, OBJECT));
            }
            settle();
        }
        assertThat(risen()).isPositive();
        assertThat(store.requests()).isEmpty();
    }

    @Test
    void aNativeHeadReadsNoDiskAndALeaseBringsTheObjectUp() {
        fill();
        try (TestPeer peer = new TestPeer(client, "SK", OBJECT)) {
            Answer head = peer.ask(Request.head(0, "kv-a", "k0"));
            assertThat(head.status()).as("%s", head).isEqualTo(200);
            assertThat(head.objectSize()).isEqualTo(OBJECT);
            assertThat(risen()).isZero();
            Answer lease = peer.ask(Request.lease(0, "kv-a", "",
                    KeyBlock.ofTexts(List.of("k0", "never")), 60_000));
            assertThat(lease.status()).as("%s", lease).isEqualTo(200);
            assertThat(HeldKeys.parse(lease.headers().getOrDefault(HeldKeys.HEADER, "")))
                    .isEqualTo(BitSet.valueOf(new long[]{1}));
            assertThat(risen()).isEqualTo(1);
            assertThat(gateway.metric("railhead_cache_only_leased_bytes"))
                    .isGreaterThanOrEqualTo(OBJECT);
        }
    }
}
