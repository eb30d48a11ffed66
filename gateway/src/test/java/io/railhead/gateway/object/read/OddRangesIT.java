package io.railhead.gateway.object.read;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.channel.RequestRange;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Ranges of which there is no byte, and ranges beyond any object: answered as S3 does, whatever the
 * store behind says, and neither an outage nor corruption.
 */
class OddRangesIT {
    private static final int BUFFER = 1 << 20;
    private static final byte[] EMPTY = {};
    private static final byte[] TEN = "0123456789".getBytes();
    private static final String[] BUCKETS = {"b", "held", "uncached"};

    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            rules:
              - bucket: held
                freshness: immutable
              - bucket: uncached
                cache: off
            """);
    private final TestClient client = gateway.client();
    private TestPeer peer;

    @BeforeEach
    void start() {
        peer = gateway.closing(new TestPeer(client, "SK", BUFFER));
        for (String bucket : BUCKETS) {
            store.put("/" + bucket + "/empty", EMPTY);
            store.put("/" + bucket + "/ten", TEN);
        }
    }

    @AfterEach
    void stop() {
        assertThat(gateway.metrics()
                .lines()
                .filter(line -> line.startsWith("railhead_integrity_failures_total{")))
                .isEmpty();
    }

    /** As MinIO does: a part that has no byte. */
    private void partsWithoutBytes() {
        store.fault((exchange, object) -> object.length == 0
                && exchange.getRequestHeaders().containsKey("Range") && answer(exchange, 206));
    }

    /** As s3proxy does: no range of nothing can be satisfied. */
    private void refusals() {
        store.fault((exchange, object) -> object.length == 0
                && exchange.getRequestHeaders().containsKey("Range") && answer(exchange, 416));
    }

    private static boolean answer(HttpExchange exchange, int status) {
        try {
            exchange.getResponseHeaders().set("ETag", FakeStore.etag(EMPTY));
            exchange.getResponseHeaders().set("Last-Modified", "Mon, 16 Nov 2026 00:00:00 GMT");
            if (exchange.getRequestMethod().equals("HEAD")) {
                exchange.getResponseHeaders().set("Content-Length", "0");
            }
            exchange.sendResponseHeaders(status, -1);
            return true;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void assertEmpty(HttpResponse<byte[]> answer) {
        assertThat(answer.statusCode()).as("%s", answer).isEqualTo(200);
        assertThat(answer.body()).isEmpty();
        assertThat(answer.headers().firstValue("content-length")).contains("0");
        assertThat(answer.headers().firstValue("content-range")).isEmpty();
        assertThat(answer.headers().firstValue("etag")).contains(FakeStore.etag(EMPTY));
    }

    private static void assertUnsatisfiable(HttpResponse<byte[]> answer) {
        assertThat(answer.statusCode()).as("%s", answer).isEqualTo(416);
    }

    @ParameterizedTest
    @ValueSource(strings = {"b", "held", "uncached"})
    void anEmptyObjectOfAStoreThatSendsPartsWithoutBytes(String bucket) {
        partsWithoutBytes();
        String path = "/" + bucket + "/empty";
        for (int round = 0; round < 2; round++) {
            assertEmpty(client.get(path, "Range", "bytes=-8"));
            assertEmpty(client.get(path, "Range", "bytes=-18446744073709551616"));
            assertUnsatisfiable(client.get(path, "Range", "bytes=-0"));
            assertUnsatisfiable(client.get(path, "Range", "bytes=0-"));
            assertUnsatisfiable(client.get(path, "Range", "bytes=0-18446744073709551616"));
            assertUnsatisfiable(client.get(path, "Range", "bytes=5-9"));
            assertEmpty(client.get(path));
            assertEmpty(client.head(path, "Range", "bytes=-8"));
            assertUnsatisfiable(client.head(path, "Range", "bytes=0-"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"b", "held"})
    void anEmptyObjectOfAStoreThatRefusesEachRangeOfIt(String bucket) {
        refusals();
        String path = "/" + bucket + "/empty";
        for (int round = 0; round < 2; round++) {
            assertEmpty(client.get(path, "Range", "bytes=-8"));
            assertUnsatisfiable(client.get(path, "Range", "bytes=0-"));
            assertUnsatisfiable(client.get(path, "Range", "bytes=-0"));
            assertEmpty(client.get(path));
        }
    }

    @ParameterizedTest
    @CsvSource({"b, true", "held, true", "uncached, true", "b, false", "held, false"})
    void anEmptyObjectIntoTheClientsMemory(String bucket, boolean isPart) {
        if (isPart) {
            partsWithoutBytes();
        } else {
            refusals();
        }
        String path = "/" + bucket + "/empty";
        for (int round = 0; round < 2; round++) {
            HttpResponse<byte[]> suffix = client.get(path,
                    peer.headers(0, BUFFER, "Range", "bytes=-8"));
            assertThat(suffix.statusCode()).isEqualTo(200);
            assertThat(suffix.headers().firstValue("x-amz-rdma-bytes-transferred")).contains("0");
            assertUnsatisfiable(client.get(path, peer.headers(0, BUFFER, "Range", "bytes=0-")));
            assertUnsatisfiable(client.get(path, peer.headers(0, BUFFER, "Range", "bytes=-0")));
        }
    }

    private Answer ask(String key, RequestRange range) {
        return peer.ask(
                Request.get(0, "held", key, peer.key(), 0, BUFFER).withRange(range));
    }

    @Test
    void anEmptyObjectOverTheNativeChannel() {
        partsWithoutBytes();
        for (int round = 0; round < 2; round++) {
            Answer suffix = ask("empty", new RequestRange.Last(8));
            assertThat(suffix.status()).as("%s", suffix).isEqualTo(200);
            assertThat(suffix.bytesMoved()).isZero();
            assertThat(ask("empty", RequestRange.ALL).status()).isEqualTo(200);
            assertThat(ask("empty", new RequestRange.From(0)).code()).isEqualTo("InvalidRange");
            assertThat(ask("empty", new RequestRange.Last(0)).code()).isEqualTo("InvalidRange");
        }
        assertThat(ask("ten", new RequestRange.Last(0)).code()).isEqualTo("InvalidRange");
    }

    @ParameterizedTest
    @ValueSource(strings = {"b", "held", "uncached"})
    void rangesBeyondAnyObject(String bucket) {
        String path = "/" + bucket + "/ten";
        for (int round = 0; round < 2; round++) {
            for (String range : new String[]{"bytes=0-18446744073709551616",
                    "bytes=-18446744073709551616"}) {
                HttpResponse<byte[]> answer = client.get(path, "Range", range);
                assertThat(answer.statusCode()).isIn(200, 206);
                assertThat(answer.body()).isEqualTo(TEN);
            }
            assertUnsatisfiable(client.get(path, "Range", "bytes=18446744073709551616-"));
            assertUnsatisfiable(client.get(path, "Range", "bytes=-0"));
        }
    }
}
