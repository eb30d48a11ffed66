package io.railhead.gateway.relay;

import static io.railhead.gateway.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A store that fails, lies and changes: an error or a retry, never wrong or short bytes. */
class BackendFaultsIT {
    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            cache:
              memory: 128MiB
            backends:
              store:
                answer_timeout: 2s
                idle_timeout: 1s
                max_attempts: 2
            rules:
              - bucket: stale
                freshness: strong
                stale_if_error: true
              - bucket: bounded
                freshness: {bounded: 1h}
                authorization: {remember: 1h}
              - bucket: immutable
                freshness: immutable
                authorization: {remember: 1h}
            """);
    private final TestClient client = gateway.client();

    /** Answers a ranged GET with fewer bytes than it announces. */
    private static boolean truncate(HttpExchange exchange, byte[] object) {
        try {
            String[] range = exchange.getRequestHeaders()
                    .getFirst("Range")
                    .replace("bytes=", "")
                    .split("-", 2);
            int first = Integer.parseInt(range[0]);
            int last = Math.min(object.length - 1, Integer.parseInt(range[1]));
            exchange.getResponseHeaders().set("ETag", FakeStore.etag(object));
            exchange.getResponseHeaders()
                    .set("Content-Range", "bytes " + first + "-" + last + "/" + object.length);
            exchange.sendResponseHeaders(206, last + 1 - first);
            exchange.getResponseBody().write(object, first, (last + 1 - first) / 2);
            exchange.getResponseBody().flush();
            exchange.close();
            return true;
        } catch (IOException e) {
            return true;
        }
    }

    @Test
    void aBodyCutOffByTheStoreIsFetchedAgain() {
        byte[] object = random(1, 3_000_000);
        store.put("/b/cut", object);
        AtomicInteger cuts = new AtomicInteger();
        store.fault((exchange, bytes) -> exchange.getRequestMethod().equals("GET")
                && cuts.getAndIncrement() == 0
                && truncate(exchange, bytes));
        assertThat(client.get("/b/cut").body()).isEqualTo(object);
        assertThat(cuts.get()).isGreaterThan(1);
    }

    @Test
    void aStoreThatAlwaysCutsNeverYieldsAShortSuccess() {
        byte[] object = random(2, 3_000_000);
        store.put("/b/always", object);
        store.fault((exchange, bytes) -> exchange.getRequestMethod().equals("GET")
                && truncate(exchange, bytes));
        assertNoSuccess("/b/always");
        store.fault((exchange, bytes) -> false);
        assertThat(client.get("/b/always").body()).isEqualTo(object);
    }

    private void assertNoSuccess(String path) {
        try {
            assertThat(client.get(path).statusCode()).isGreaterThanOrEqualTo(500);
        } catch (CompletionException e) {
            assertThat(e).hasRootCauseInstanceOf(IOException.class);
        }
    }

    @Test
    void anObjectThatChangesBetweenTwoRunsIsNeverMixed() {
        byte[] before = random(3, 30 << 20);
        byte[] after = random(4, 30 << 20);
        store.put("/b/changing", before);
        AtomicInteger gets = new AtomicInteger();
        store.fault((exchange, bytes) -> {
            if (exchange.getRequestMethod().equals("GET") && gets.incrementAndGet() == 1) {
                store.put("/b/changing", after);
            }
            return false;
        });
        try {
            byte[] body = client.get("/b/changing").body();
            assertThat(Arrays.equals(body, before) || Arrays.equals(body, after)).isTrue();
        } catch (CompletionException e) {
            assertThat(e).hasRootCauseInstanceOf(IOException.class);
        }
        assertThat(client.get("/b/changing").body()).isEqualTo(after);
    }

    @Test
    void aStoreThatIsDownIsAnErrorForStrongAndStaleOnlyWhereARuleSaysSo() {
        byte[] object = random(5, 1000);
        store.put("/b/key", object);
        store.put("/stale/key", object);
        client.get("/b/key");
        client.get("/stale/key");
        List.of("/bounded/key", "/immutable/key").forEach(path -> {
            store.put(path, object);
            client.get(path);
        });
        store.close();

        HttpResponse<byte[]> strong = client.get("/b/key");
        HttpResponse<byte[]> stale = client.get("/stale/key");
        assertThat(client.head("/stale/key").headers().firstValue("x-cache")).contains("STALE");

        assertThat(strong.statusCode()).isEqualTo(503);
        assertThat(stale.statusCode()).isEqualTo(200);
        assertThat(stale.body()).isEqualTo(object);
        assertThat(stale.headers().firstValue("x-cache")).contains("STALE");
        for (String path : List.of("/bounded/key", "/immutable/key")) {
            HttpResponse<byte[]> hit = client.get(path);
            assertThat(hit.statusCode()).as(path).isEqualTo(200);
            assertThat(hit.body()).isEqualTo(object);
            assertThat(hit.headers().firstValue("x-cache")).contains("HIT");
        }
    }

    @Test
    void aStoreThatStallsIsGivenUpInTime() {
        store.put("/b/slow", random(6, 1000));
        CountDownLatch givenUp = new CountDownLatch(1);
        store.fault((exchange, bytes) -> {
            TestGateway.await(givenUp);
            return true;
        });
        assertThat(client.get("/b/slow").statusCode()).isEqualTo(503);
        givenUp.countDown();
    }

    @Test
    void aChecksumThatDoesNotMatchCommitsNothing() {
        byte[] body = random(7, 100_000);
        HttpResponse<byte[]> answer = client.put("/b/bad", body, "x-amz-checksum-crc32",
                "AAAAAA==");
        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(new String(answer.body())).contains("<Code>BadDigest</Code>");
        assertThat(store.object("/b/bad")).isNull();
    }

    @Test
    void aBodyThatIsNotWhatWasSignedCommitsNothing() throws Exception {
        var signed = client.signed("PUT", "/b/forged", random(8, 1000));
        var forged = HttpRequest.newBuilder(signed, (name, value) -> true)
                .PUT(HttpRequest.BodyPublishers.ofByteArray(random(9, 1000)))
                .build();
        var answer = HttpClient.newHttpClient()
                .send(forged,
                        HttpResponse.BodyHandlers.ofString());
        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(answer.body()).contains("<Code>XAmzContentSHA256Mismatch</Code>");
        assertThat(store.object("/b/forged")).isNull();
    }

    @Test
    void whatMayNotBeKeptIsNotKept() {
        store.put("/b/private", random(10, 1000));
        store.header("Cache-Control", "private");
        client.get("/b/private");
        HttpResponse<byte[]> again = client.get("/b/private");
        assertThat(again.body()).isEqualTo(random(10, 1000));
        assertThat(again.headers().firstValue("x-cache")).contains("BYPASS");
    }

    @Test
    void aClientThatGoesAwayLeavesNothingBehind() {
        store.put("/b/big", random(11, 64 << 20));
        var http = HttpClient.newHttpClient();
        var request = client.signed("GET", "/b/big", new byte[0]);
        assertThatThrownBy(() -> http.send(request, info -> {
            throw new IllegalStateException("the client gives up");
        })).isInstanceOf(IOException.class);
        http.shutdownNow();
        gateway.assertNoLease();
    }
}
