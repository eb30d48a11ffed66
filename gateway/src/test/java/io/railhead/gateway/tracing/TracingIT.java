package io.railhead.gateway.tracing;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.protocol.channel.Request;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a collector of traces is told. */
class TracingIT {
    private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

    private final Queue<String> heard = new ConcurrentLinkedQueue<>();

    private HttpServer collector() throws Exception {
        return collector(200);
    }

    private HttpServer collector(int status) throws Exception {
        HttpServer collector = HttpServer
                .create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        collector.createContext("/v1/traces", exchange -> {
            heard.add(new String(exchange.getRequestBody().readAllBytes(), ISO_8859_1));
            exchange.sendResponseHeaders(status, -1);
            exchange.close();
        });
        collector.start();
        return collector;
    }

    private static TestGateway gateway(FakeStore store, HttpServer collector, String sample) {
        return TestGateway.over(store).config("""
                tracing: {endpoint: "http://127.0.0.1:%d", sample: %s}
                """.formatted(collector.getAddress().getPort(), sample)).start();
    }

    @Test
    void spansSayWhatWasAskedButNotWhatSignedIt() throws Exception {
        HttpServer collector = collector();
        URI uri;
        try (FakeStore store = new FakeStore()) {
            store.put("/b/key", new byte[10]);
            try (TestGateway gateway = gateway(store, collector, "100%")) {
                uri = gateway.client().presigned("GET", "/b/key", Duration.ofHours(1));
                HttpRequest get = HttpRequest.newBuilder(uri)
                        .header("traceparent", "00-" + TRACE + "-00f067aa0ba902b7-01")
                        .build();
                assertThat(HttpClient.newHttpClient()
                        .send(get, BodyHandlers.discarding())
                        .statusCode()).isEqualTo(200);
                assertThat(gateway.metrics()).isNotEmpty();
            }
        } finally {
            collector.stop(0);
        }
        String all = String.join("", heard);
        String signature = uri.getQuery().replaceAll(".*X-Amz-Signature=([0-9a-f]+).*", "$1");
        assertThat(all).contains("railhead", "/b/key", "X-Amz-Signature=****", "X-Amz-Expires=")
                .contains(new String(HexFormat.of().parseHex(TRACE), ISO_8859_1))
                .doesNotContain(signature)
                .doesNotContain("/metrics");
        assertThat(signature).hasSize(64);
    }

    /** Hits that never leave the channel's thread are spans too. */
    @Test
    void nativeRequestsAreSpans() throws Exception {
        HttpServer collector = collector();
        try (FakeStore store = new FakeStore()) {
            store.put("/b/native-key", new byte[10]);
            try (TestGateway gateway = TestGateway.over(store).config("""
                    rules: [{freshness: immutable}]
                    tracing: {endpoint: "http://127.0.0.1:%d", sample: 100%%}
                    """.formatted(collector.getAddress().getPort())).start();
                    TestPeer peer = new TestPeer(gateway.client(), "SK", 1 << 20)) {
                for (int i = 0; i < 2; i++) {
                    assertThat(peer.ask(Request.get(i, "b", "native-key", peer.key(), 0, 1 << 20))
                            .status()).isEqualTo(200);
                }
                assertThat(peer.ask(Request.head(2, "b", "none")).status()).isEqualTo(404);
            }
        } finally {
            collector.stop(0);
        }
        String all = String.join("", heard);
        assertThat(all.split("NATIVE\\.GET", -1)).hasSize(3);
        assertThat(all).contains("NATIVE.HEAD", "native-key", "railhead.fabric", "loopback");
    }

    /** Whoever looks for traces that are not there must learn why. */
    @ParameterizedTest
    @CsvSource({"200, sent", "404, lost"})
    void whatTheCollectorDidNotTakeIsCounted(int status, String outcome) throws Exception {
        HttpServer collector = collector(status);
        try (FakeStore store = new FakeStore();
                TestGateway gateway = gateway(store, collector, "100%")) {
            store.put("/b/key", new byte[10]);
            gateway.client().get("/b/key");
            TestGateway.await(() -> gateway
                    .metric("railhead_spans_total{outcome=\"" + outcome + "\",}") > 0);
        } finally {
            collector.stop(0);
        }
    }

    @Test
    void nothingIsToldOfWhatIsNotSampled() throws Exception {
        HttpServer collector = collector();
        try (FakeStore store = new FakeStore();
                TestGateway gateway = gateway(store, collector, "0%")) {
            store.put("/b/key", new byte[10]);
            assertThat(gateway.client().get("/b/key").statusCode()).isEqualTo(200);
        } finally {
            collector.stop(0);
        }
        assertThat(heard).isEmpty();
    }
}
