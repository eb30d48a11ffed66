package io.railhead.gateway.fill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.RandomBytes;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.gateway.s3.body.Crc64Nvme;
import io.railhead.gateway.trust.FaultPlan;
import io.railhead.gateway.trust.FaultProxy;
import io.railhead.gateway.trust.Toxic;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.Request;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A bit that changes between the store and the gateway, where the store's checksum is looked at.
 */
class VerifiedFillsIT {
    private static final Map<String, Supplier<Checksum>> ALGORITHMS = Map.of("crc32", CRC32::new,
            "crc32c", CRC32C::new, "crc64nvme", Crc64Nvme::new);
    private static final String MISMATCHES = "railhead_fill_checksums_total{result=\"mismatch\",}";
    private static final String MATCHES = "railhead_fill_checksums_total{result=\"match\",}";
    private static final byte[] OBJECT = RandomBytes.random(1, 700_000);

    private final FakeStore store = new FakeStore();
    private final FaultProxy proxy = FaultProxy.before(store.endpoint());
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(proxy.endpoint())
            .owning(proxy)
            .owning(store)
            .config("""
                    cache:
                      memory: 16MiB
                      page: 64KiB
                      run: 128KiB
                      window: 256KiB
                    rules:
                      - {bucket: unseen, freshness: immutable}
                      - {freshness: immutable, verify_fills: true}
                    """);
    private final TestClient client = gateway.client();

    private void put(String path, String algorithm) {
        Checksum sum = Objects.requireNonNull(ALGORITHMS.get(algorithm)).get();
        sum.update(OBJECT);
        ByteBuffer value = ByteBuffer.allocate(Long.BYTES).putLong(sum.getValue());
        byte[] bytes = Arrays.copyOfRange(value.array(), algorithm.contains("64") ? 0 : 4, 8);
        store.put(path, OBJECT);
        store.header("x-amz-checksum-" + algorithm, Base64.getEncoder().encodeToString(bytes));
    }

    private void assertIsNowRight(String path) {
        proxy.plan(FaultPlan.NONE);
        double before = gateway.metric(MATCHES);
        HttpResponse<byte[]> answer = client.get(path);
        assertThat(answer.body()).isEqualTo(OBJECT);
        assertThat(answer.headers().firstValue("x-cache")).contains("MISS");
        assertThat(gateway.metric(MATCHES)).isEqualTo(before + 1);
        assertThat(client.get(path).headers().firstValue("x-cache")).contains("HIT");
    }

    @Test
    void bytesThatAreNotTheStoresAreNoObjectWhicheverSumItHas() {
        double mismatches = 0;
        for (String algorithm : ALGORITHMS.keySet()) {
            String path = "/b/" + algorithm;
            put(path, algorithm);
            for (int at : new int[]{0, 70_000, 131_071}) {
                proxy.plan(FaultPlan.always(new Toxic.CorruptByte(at)));
                assertThatThrownBy(() -> client.get(path)).isInstanceOf(CompletionException.class);
                assertThat(gateway.metric(MISMATCHES)).isEqualTo(++mismatches);
            }
            assertIsNowRight(path);
        }
    }

    /** While one hears that it was wrong others come, begin and fetch. */
    @Test
    void norWhereManyReadItAtOnce() {
        put("/b/key", "crc32");
        proxy.plan(FaultPlan.always(new Toxic.CorruptByte(5)));
        for (int round = 0; round < 30; round++) {
            List<CompletableFuture<HttpResponse<byte[]>>> reads = new ArrayList<>();
            for (int i = 0; i < 16; i++) {
                reads.add(client.sendAsync("GET", "/b/key", new byte[0]));
            }
            reads.forEach(TestClient::assertGivenUp);
        }
        assertThat(gateway.metric(MISMATCHES)).isPositive();
        // Who was turned away in time may have left a page that nobody has found wrong yet.
        TestClient.assertGivenUp(client.sendAsync("GET", "/b/key", new byte[0]));
        assertIsNowRight("/b/key");
    }

    /** Nothing that is learnt of it is kept meanwhile, its checksum neither. */
    @Test
    void norWhileItIsBeingWritten() throws InterruptedException {
        put("/b/key", "crc32");
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        store.fault((exchange, _) -> {
            if (exchange.getRequestMethod().equals("PUT")) {
                begun.countDown();
                awaitQuietly(release);
            }
            return false;
        });
        CompletableFuture<?> written = client.sendAsync("PUT", "/b/key", OBJECT);
        try {
            assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
            proxy.plan(FaultPlan.always(new Toxic.CorruptByte(5)));
            assertThatThrownBy(() -> client.get("/b/key")).isInstanceOf(CompletionException.class);
            assertThat(gateway.metric(MISMATCHES)).isEqualTo(1);
        } finally {
            release.countDown();
        }
        written.join();
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void norDoTheyCountAsWrittenIntoAClientsMemory() {
        put("/b/key", "crc32c");
        try (TestPeer peer = new TestPeer(client, "SK", OBJECT.length)) {
            proxy.plan(FaultPlan.always(new Toxic.CorruptByte(9)));
            Answer answer = peer.ask(Request.get(0, "b", "key", peer.key(), 0, OBJECT.length));
            assertThat(answer.isSuccess()).as("%s", answer).isFalse();
            assertThat(client.get("/b/key", peer.headers(0, OBJECT.length)).statusCode())
                    .isEqualTo(503);
            assertIsNowRight("/b/key");
            peer.fill(0);
            assertThat(peer.ask(Request.get(0, "b", "key", peer.key(), 0, OBJECT.length))
                    .isSuccess()).isTrue();
            assertThat(peer.bytes(0, OBJECT.length)).isEqualTo(OBJECT);
        }
    }

    /** Whoever asks for ranges learns it with the last part that was missing. */
    @Test
    void aPartThatWasWrongIsFetchedAgain() {
        put("/b/key", "crc64nvme");
        proxy.plan(FaultPlan.always(new Toxic.CorruptByte(5)));
        client.get("/b/key", "Range", "bytes=0-99999");
        proxy.plan(FaultPlan.NONE);
        assertThatThrownBy(() -> client.get("/b/key")).isInstanceOf(CompletionException.class);
        assertThat(gateway.metric(MISMATCHES)).isEqualTo(1);
        assertIsNowRight("/b/key");
    }

    /** The price: one HEAD before the first byte. Without the rule there is none, nor a look. */
    @Test
    void theStoreIsAskedForItsSumOnce() {
        put("/b/key", "crc32");
        assertThat(client.get("/b/key", "Range", "bytes=0-9").body()).hasSize(10);
        assertThat(client.get("/b/key").body()).isEqualTo(OBJECT);
        assertThat(store.count("HEAD /b/key")).isEqualTo(1);

        put("/unseen/key", "crc32");
        proxy.plan(FaultPlan.always(new Toxic.CorruptByte(5)));
        assertThat(client.get("/unseen/key").body()).isNotEqualTo(OBJECT);
        assertThat(store.count("HEAD /unseen/key")).isZero();
        assertThat(gateway.metric(MISMATCHES)).isZero();
    }

    @Test
    void whereTheStoreHasNoSumOfAllOfItNothingIsHeldAgainstIt() {
        store.header("x-amz-checksum-crc32", "4waSgw==-3");
        store.put("/b/key", OBJECT);
        assertThat(client.get("/b/key").body()).isEqualTo(OBJECT);
        assertThat(gateway.metric(MATCHES) + gateway.metric(MISMATCHES)).isZero();
    }
}
