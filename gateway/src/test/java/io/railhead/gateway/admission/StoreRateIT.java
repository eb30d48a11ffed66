package io.railhead.gateway.admission;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.RandomBytes;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import java.net.http.HttpResponse;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A rate of {@code backends.NAME.rate} holds for a gateway's requests, whoever sends them. */
class StoreRateIT {
    private static final int BYTES = 4096;

    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            backends: {store: {rate: {bytes: 1KiB}}}
            rules: [{freshness: immutable}]
            """);

    @Test
    void whatAStoreAllowsIsWaitedForAndHitsAreNot() {
        store.put("/b/first", RandomBytes.random(1, BYTES));
        store.put("/b/second", RandomBytes.random(2, BYTES));
        TestClient client = gateway.client();
        assertThat(client.get("/b/first").statusCode()).isEqualTo(200);
        CompletableFuture<HttpResponse<byte[]>> second = client.sendAsync("GET", "/b/second",
                new byte[0]);
        TestGateway.await(() -> gateway
                .metric("railhead_backend_rate_delayed_total{backend=\"store\",}") > 0);
        assertThat(TestClient.cached(client.get("/b/first"))).isEqualTo("HIT");
        assertThat(second.join().body()).isEqualTo(RandomBytes.random(2, BYTES));
    }
}
