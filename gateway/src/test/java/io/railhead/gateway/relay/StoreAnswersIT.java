package io.railhead.gateway.relay;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A store's error about one object says nothing of the store or the gateway. */
class StoreAnswersIT {
    private static final String HEALTHY = "railhead_backend_endpoints{backend=\"store\",state=\"healthy\",}";
    private static final String DOCUMENT = "<Error><Code>Broken</Code></Error>";

    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            backends:
              store:
                max_attempts: 3
            rules:
              - {bucket: stale, freshness: strong, stale_if_error: true}
            """);
    private final TestClient client = gateway.client();

    private HttpResponse<String> ready() {
        return HttpClient.newHttpClient()
                .sendAsync(HttpRequest.newBuilder(gateway.health().resolve("/readyz")).build(),
                        HttpResponse.BodyHandlers.ofString())
                .join();
    }

    /** Answers like this whatever is asked of this object. */
    private void answers(String path, int status) {
        store.fault((exchange, object) -> {
            if (!exchange.getRequestURI().getPath().equals(path)) {
                return false;
            }
            say(exchange, status);
            return true;
        });
    }

    private static void say(HttpExchange exchange, int status) {
        byte[] document = DOCUMENT.getBytes(StandardCharsets.UTF_8);
        boolean head = exchange.getRequestMethod().equals("HEAD");
        try {
            exchange.getResponseHeaders().set("x-store-says", "no");
            exchange.sendResponseHeaders(status, head ? -1 : document.length);
            if (!head) {
                exchange.getResponseBody().write(document);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {500, 502, 503, 504})
    void oneObjectThatFailsTakesNothingElseAway(int status) {
        store.put("/b/bad", new byte[100]);
        store.put("/b/good", new byte[100]);
        client.get("/b/good");
        answers("/b/bad", status);
        for (int i = 0; i < 4; i++) {
            HttpResponse<byte[]> bad = client.get("/b/bad");
            assertThat(bad.statusCode()).isEqualTo(status);
            assertThat(new String(bad.body(), StandardCharsets.UTF_8)).isEqualTo(DOCUMENT);
            assertThat(client.put("/b/bad", new byte[10]).statusCode()).isEqualTo(status);
            assertThat(client.head("/b/bad").statusCode()).isEqualTo(status);
        }
        assertThat(ready().statusCode()).isEqualTo(200);
        assertThat(ready().body()).startsWith("ok\nstore store answers: 1 of 1 endpoints\n");
        assertThat(gateway.metric(HEALTHY)).isEqualTo(1);
        assertThat(client.get("/b/good").statusCode()).isEqualTo(200);
    }

    @Test
    void aStoreThatIsAwayLeavesTheGatewayReady() {
        store.put("/b/good", new byte[100]);
        client.get("/b/good");
        store.close();
        HttpResponse<byte[]> failed = client.get("/b/other");
        assertThat(failed.statusCode()).isEqualTo(503);
        assertThat(new String(failed.body(), StandardCharsets.UTF_8))
                .contains("The store behind the gateway cannot be reached.");
        assertThat(gateway.metric(HEALTHY)).isZero();
        assertThat(ready().statusCode()).isEqualTo(200);
        assertThat(ready().body()).startsWith("ok\nstore store is out: 0 of 1 endpoints\n");
    }

    @ParameterizedTest
    @ValueSource(ints = {500, 501, 503, 504})
    void aHeadTellsWhatTheStoreAnswered(int status) {
        store.put("/b/key", new byte[100]);
        client.get("/b/key");
        answers("/b/key", status);
        for (List<String> asked : List.of(List.<String>of(), List.of("range", "bytes=0-1"),
                List.of("x-amz-checksum-mode", "ENABLED"))) {
            HttpResponse<byte[]> head = client.head("/b/key", asked.toArray(String[]::new));
            assertThat(head.statusCode()).as(asked.toString()).isEqualTo(status);
            assertThat(head.headers().firstValue("x-store-says")).contains("no");
        }
        assertThat(client.get("/b/key").statusCode()).isEqualTo(status);
        assertThat(client.get("/b/key", "range", "bytes=-5").statusCode()).isEqualTo(status);
    }

    @Test
    void aStoresErrorIsOneThatARuleServesStaleFor() {
        store.put("/stale/key", new byte[100]);
        client.get("/stale/key");
        answers("/stale/key", 500);
        assertThat(client.get("/stale/key").headers().firstValue("x-cache")).contains("STALE");
        assertThat(client.head("/stale/key").headers().firstValue("x-cache")).contains("STALE");
    }

    @Test
    void nobodyIsToldOfClasses() {
        store.put("/b/key", new byte[100]);
        client.get("/b/key");
        store.close();
        assertThat(new String(client.get("/b/key").body(), StandardCharsets.UTF_8))
                .contains("cannot be reached.")
                .doesNotContain("io.railhead");
    }

    /** The client hears the store's own words, and not that the gateway has to wait. */
    @Test
    void aPageThatTheStoreFailsToGiveIsAnsweredInItsWords() {
        byte[] object = new byte[24 << 20];
        new Random(1).nextBytes(object);
        store.put("/b/large", object);
        assertThat(client.get("/b/large", "range", "bytes=0-99").statusCode()).isEqualTo(206);
        store.fault((exchange, bytes) -> {
            if (!exchange.getRequestMethod().equals("GET")) {
                return false;
            }
            say(exchange, 501);
            return true;
        });
        HttpResponse<byte[]> end = client.get("/b/large", "range", "bytes=20000000-20000099");
        assertThat(end.statusCode()).isEqualTo(501);
        assertThat(new String(end.body(), StandardCharsets.UTF_8)).isEqualTo(DOCUMENT);
    }

    @Test
    void metadataThatAStoreTookComesBack() {
        metadata(16);
        store.put("/b/key", new byte[100]);
        for (int i = 0; i < 2; i++) {
            assertThat(client.get("/b/key").headers().firstValue("x-amz-meta-15"))
                    .contains("m".repeat(500));
            assertThat(client.head("/b/key").headers().firstValue("x-amz-meta-15"))
                    .contains("m".repeat(500));
        }
    }

    @Test
    void headersPastTheLimitAreAnErrorThatNobodyRetries() {
        metadata(200);
        store.put("/b/key", new byte[100]);
        for (int i = 0; i < 4; i++) {
            HttpResponse<byte[]> get = client.get("/b/key");
            assertThat(get.statusCode()).isEqualTo(501);
            assertThat(new String(get.body(), StandardCharsets.UTF_8)).contains(
                    "<Code>StoreAnswerTooLarge</Code>", "more than 64 KiB of headers");
            assertThat(client.head("/b/key").statusCode()).isEqualTo(501);
        }
        assertThat(gateway.metric("railhead_backend_retries_total{backend=\"store\",}")).isZero();
        assertThat(gateway.metric(HEALTHY)).isEqualTo(1);
    }

    /** Whatever the store's port speaks, a client is told that it is no HTTP, and of whom. */
    @ParameterizedTest
    @ValueSource(strings = {"SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 two hundred\r\n\r\n"})
    void whatIsNoHttpIsToldAsThat(String said) throws IOException {
        try (ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                TestGateway before = TestGateway
                        .over(URI.create("http://127.0.0.1:" + listener.getLocalPort()))
                        .start()) {
            Thread.ofVirtual().start(() -> sayToAll(listener, said + "x".repeat(9000) + "\r\n"));
            HttpResponse<byte[]> get = before.client().get("/b/key");
            assertThat(get.statusCode()).isEqualTo(502);
            assertThat(new String(get.body(), StandardCharsets.UTF_8))
                    .contains("<Code>StoreAnswerMalformed</Code>");
        }
    }

    private static void sayToAll(ServerSocket listener, String said) {
        while (!listener.isClosed()) {
            try (Socket socket = listener.accept()) {
                socket.getOutputStream().write(said.getBytes(StandardCharsets.US_ASCII));
                socket.shutdownOutput();
                socket.getInputStream().transferTo(OutputStream.nullOutputStream());
            } catch (IOException e) {
                // The gateway closed the connection, or the test the listener.
            }
        }
    }

    private void metadata(int headers) {
        for (int i = 0; i < headers; i++) {
            store.header("x-amz-meta-" + i, "m".repeat(500));
        }
    }
}
