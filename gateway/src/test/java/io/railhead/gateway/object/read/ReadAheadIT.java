package io.railhead.gateway.object.read;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.RandomBytes;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.channel.RequestRange;
import java.util.Arrays;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Who reads an object in short ranges makes few requests to the store, whichever way it asks. */
final class ReadAheadIT {
    private static final int STEP = 128 << 10;
    private static final int READS = 96;
    private static final byte[] OBJECT = RandomBytes.random(5, READS * STEP);

    private final FakeStore store = new FakeStore();

    @BeforeEach
    void putTheObject() {
        store.put("/b/object", OBJECT);
    }

    private TestGateway gateway(String cache, String freshness) {
        return gateway(cache, freshness, "");
    }

    private TestGateway gateway(String cache, String freshness, String backend) {
        return TestGateway.over(store).config("""
                cache: {%s}
                backends: {store: {%s}}
                rules: [{freshness: %s}]
                """.formatted(cache, backend, freshness)).start();
    }

    private static String range(int read) {
        return "bytes=" + read * STEP + "-" + ((read + 1) * STEP - 1);
    }

    private static byte[] part(int read) {
        return Arrays.copyOfRange(OBJECT, read * STEP, (read + 1) * STEP);
    }

    private long gets() {
        return store.count("GET /b/object");
    }

    @Test
    void overHttp() {
        try (TestGateway gateway = gateway("", "immutable")) {
            TestClient client = gateway.client();
            for (int read = 0; read < READS; read++) {
                assertThat(client.get("/b/object", "Range", range(read)).body())
                        .isEqualTo(part(read));
            }
            assertThat(gets()).isLessThan(READS / 6);
            assertThat(gateway.metric("railhead_read_ahead_bytes_total"))
                    .isGreaterThan(OBJECT.length / 2.0);
            gateway.assertNoLease();
        }
    }

    /** Each read is still asked about. */
    @Test
    void underStrongFreshness() {
        try (TestGateway gateway = gateway("", "strong")) {
            TestClient client = gateway.client();
            for (int read = 0; read < READS; read++) {
                assertThat(client.get("/b/object", "Range", range(read)).body())
                        .isEqualTo(part(read));
            }
            assertThat(gets()).isLessThan(READS / 6);
            assertThat(store.count("HEAD /b/object")).isGreaterThanOrEqualTo(READS - 2);
        }
    }

    @Test
    void overTheNativeChannel() {
        try (TestGateway gateway = gateway("", "immutable")) {
            TestPeer peer = new TestPeer(gateway.client(), "SK", STEP);
            for (int read = 0; read < READS; read++) {
                Answer answer = peer.ask(Request.get(0, "b", "object", peer.key(), 0, STEP)
                        .withRange(new RequestRange.Between((long) read * STEP,
                                (read + 1L) * STEP - 1)));
                assertThat(answer.status()).isEqualTo(206);
                assertThat(peer.bytes(0, STEP)).isEqualTo(part(read));
            }
            assertThat(gets()).isLessThan(READS / 6);
            peer.close();
            gateway.assertNoLease();
        }
    }

    /** The store stands one fetch at a time, and none of what is read ahead is answered. */
    @Test
    void whatSomebodyWaitsForGoesBeforeIt() {
        Semaphore answers = new Semaphore(0);
        store.put("/b/urgent", OBJECT);
        store.fault((exchange, _) -> {
            String range = exchange.getRequestHeaders().getFirst("Range");
            if (exchange.getRequestURI().getPath().equals("/b/object")
                    && Integer.parseInt(range.substring(6, range.indexOf('-'))) >= 8 * STEP) {
                answers.acquireUninterruptibly();
            }
            return false;
        });
        try (TestGateway gateway = gateway("run: 256KiB", "immutable", "max_fetches: 1")) {
            TestClient client = gateway.client();
            for (int read = 0; read < 8; read++) {
                assertThat(client.get("/b/object", "Range", range(read)).statusCode())
                        .isEqualTo(206);
            }
            TestGateway.await(() -> waiting(gateway) >= 2);
            double ahead = waiting(gateway);
            int before = store.requests().size();
            var urgent = client.sendAsync("GET", "/b/urgent", new byte[0], "Range", range(0));
            TestGateway.await(() -> waiting(gateway) == ahead + 1);
            answers.release(2);
            assertThat(urgent.join().statusCode()).isEqualTo(206);
            // One of what is read ahead may come before it.
            assertThat(store.requestsAfter(before).stream().limit(2))
                    .anyMatch(request -> request.startsWith("GET /b/urgent"));
            answers.release(READS);
            TestGateway.await(() -> waiting(gateway) == 0);
        }
    }

    private static double waiting(TestGateway gateway) {
        return gateway.metric("railhead_backend_fetches{backend=\"store\",state=\"waiting\",}");
    }

    @Test
    void onlyWhereItIsOn() {
        try (TestGateway gateway = gateway("read_ahead: {window: 0}", "immutable")) {
            TestClient client = gateway.client();
            for (int read = 0; read < READS; read++) {
                client.get("/b/object", "Range", range(read));
            }
            // Pages hold two reads each.
            assertThat(gets()).isGreaterThanOrEqualTo(READS / 2);
            assertThat(gateway.metric("railhead_read_ahead_bytes_total")).isZero();
        }
    }
}
