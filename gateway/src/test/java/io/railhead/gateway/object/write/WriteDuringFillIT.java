package io.railhead.gateway.object.write;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.RandomBytes;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A write that overtakes a fill. */
class WriteDuringFillIT {
    private static final int BYTES = 20 << 20;

    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            cache:
              memory: 128MiB
            """);

    private static byte[] random(int seed) {
        return RandomBytes.random(seed, BYTES);
    }

    @Test
    void aReaderIsCutOrHasOneVersionAndTheNextHasTheNewOne() throws Exception {
        byte[] before = random(1);
        byte[] after = random(2);
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        TestClient client = gateway.client();
        store.put("/b/key", before);
        store.fault((exchange, object) -> {
            String range = exchange.getRequestHeaders().getFirst("Range");
            if (range != null && !range.startsWith("bytes=0-")) {
                held.countDown();
                TestGateway.await(release);
            }
            return false;
        });
        CompletableFuture<HttpResponse<byte[]>> reading = client.sendAsync("GET", "/b/key",
                new byte[0]);
        TestGateway.await(held);

        assertThat(client.put("/b/key", after).statusCode()).isEqualTo(200);
        CompletableFuture<HttpResponse<byte[]>> next = client.sendAsync("GET", "/b/key",
                new byte[0]);
        release.countDown();

        assertThat(Arrays.equals(next.join().body(), after)).isTrue();
        try {
            byte[] old = reading.join().body();
            assertThat(Arrays.equals(old, before) || Arrays.equals(old, after)).isTrue();
        } catch (CompletionException e) {
            assertThat(e).hasRootCauseInstanceOf(IOException.class);
        }
        assertThat(Arrays.equals(client.get("/b/key").body(), after)).isTrue();
        gateway.assertNoLease();
    }
}
