package io.railhead.gateway.object.read;

import static io.railhead.gateway.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.frontdoor.RawConnection;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What two readers of one object share, and what the store refuses one of them. */
class SharedReadsIT {
    private static final String JOINS = "railhead_page_lookups_total{result=\"join\",}";

    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch release = new CountDownLatch(1);
    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            gateway:
              domains: [s3.rack.example]
            cache:
              memory: 128MiB
            rules:
              - bucket: held
                freshness: immutable
                authorization: {remember: 1h}
              - {bucket: shared, shared: true, freshness: immutable}
            """).principals("""
            principals:
              - name: one
                keys: [{access_key: AK, secret_key: SK}]
              - name: two
                keys: [{access_key: AK2, secret_key: SK2}]
            """);
    private final TestClient first = gateway.client();
    private final TestClient second = gateway.client("AK2", "SK2");

    @AfterEach
    void stop() {
        release.countDown();
    }

    private void hold() {
        reached.countDown();
        TestGateway.await(release);
    }

    @Test
    void aRefusalRevokesWhatWasRemembered() {
        byte[] small = random(1, 1000);
        byte[] large = random(2, 20 << 20);
        store.put("/held/small", small);
        store.put("/held/large", large);
        assertThat(first.get("/held/small").statusCode()).isEqualTo(200);
        assertThat(first.get("/held/large", "Range", "bytes=0-99").statusCode()).isEqualTo(206);
        store.deny("AK");
        // Remembered, as the rule says, until the store is asked for what is not held.
        assertThat(first.get("/held/small").statusCode()).isEqualTo(200);
        assertThat(first.get("/held/large", "Range", "bytes=15000000-15000099").statusCode())
                .isEqualTo(403);
        assertThat(first.get("/held/large", "Range", "bytes=0-99").statusCode()).isEqualTo(403);
        assertThat(second.get("/held/large").body()).isEqualTo(large);
        assertThat(second.get("/held/small").body()).isEqualTo(small);
    }

    @Test
    void aRefusalOfWhoeverFetchesIsNoRefusalOfThoseWhoWait() {
        byte[] object = random(3, 20 << 20);
        store.put("/shared/object", object);
        assertThat(first.get("/shared/object", "Range", "bytes=0-99").statusCode()).isEqualTo(206);
        store.fault((exchange, _) -> isOfTheFirst(exchange) && isRefusedInTheEnd(exchange));
        CompletableFuture<HttpResponse<byte[]>> owner = readNotHeld(first);
        TestGateway.await(reached);
        double before = gateway.metric(JOINS);
        CompletableFuture<HttpResponse<byte[]>> waiter = readNotHeld(second);
        TestGateway.await(() -> gateway.metric(JOINS) > before);
        store.deny("AK");
        release.countDown();
        assertThat(owner.join().statusCode()).isEqualTo(403);
        assertThat(waiter.join().statusCode()).isEqualTo(206);
        assertThat(waiter.join().body())
                .isEqualTo(Arrays.copyOfRange(object, 15_000_000, 15_000_100));
    }

    private static CompletableFuture<HttpResponse<byte[]>> readNotHeld(TestClient client) {
        return client.sendAsync("GET", "/shared/object", new byte[0], "Range",
                "bytes=15000000-15000099");
    }

    private static boolean isOfTheFirst(HttpExchange exchange) {
        return exchange.getRequestMethod().equals("GET")
                && exchange.getRequestHeaders().getFirst("Authorization").contains("AK/");
    }

    private boolean isRefusedInTheEnd(HttpExchange exchange) {
        hold();
        FakeStore.answerQuietly(exchange, 403);
        return true;
    }

    @Test
    void aKeyThatIsBeingWrittenIsAskedForEvenIfItNeverChanges() {
        byte[] before = random(4, 1000);
        byte[] after = random(5, 1000);
        store.put("/held/key", before);
        assertThat(first.get("/held/key").body()).isEqualTo(before);
        assertThat(first.get("/held/key").headers().firstValue("x-cache")).contains("HIT");
        store.fault((exchange, bytes) -> {
            if (exchange.getRequestMethod().equals("PUT")) {
                hold();
            }
            return false;
        });
        CompletableFuture<HttpResponse<byte[]>> write = first.sendAsync("PUT", "/held/key", after);
        TestGateway.await(() -> reached.getCount() == 0);
        for (int i = 0; i < 3; i++) {
            long asked = store.requests().size();
            assertThat(first.get("/held/key").body()).isEqualTo(before);
            assertThat(store.requests().size()).isGreaterThan((int) asked);
        }
        release.countDown();
        assertThat(write.join().statusCode()).isEqualTo(200);
        assertThat(first.get("/held/key").body()).isEqualTo(after);
    }

    @Test
    void aBucketInTheHostNameIsTheSameBucket() {
        byte[] object = random(6, 1000);
        store.put("/b/public", object);
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send("GET /public HTTP/1.1\r\nHost: b.s3.rack.example\r\n\r\n");
            assertThat(raw.receive().status()).isEqualTo(200);
            raw.send("GET /b/public HTTP/1.1\r\nHost: s3.rack.example:9000\r\n\r\n");
            assertThat(raw.receive().status()).isEqualTo(200);
        }
        assertThat(store.requests()).anyMatch(request -> request.startsWith("GET /b/public"))
                .noneMatch(request -> request.startsWith("GET /public"));
    }

    @Test
    void metricsAreNamedAsPrometheusWantsThem() {
        store.put("/b/counted", random(7, 1000));
        first.get("/b/counted");
        String metrics = gateway.metrics();
        assertThat(metrics).contains("railhead_backend_requests_total{backend=\"store\"");
        assertThat(metrics.lines()
                .filter(line -> line.startsWith("# TYPE railhead") && line.endsWith(" counter"))
                .map(line -> line.split(" ", 4)[2]))
                .isNotEmpty()
                .allMatch(name -> name.endsWith("_total"));
        assertThat(gateway.metric("railhead_cache_requests_total{result=\"miss\",}")).isEqualTo(1);
    }
}
