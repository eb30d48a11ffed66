package io.railhead.gateway.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.Caller;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * One store, asked directly and through a gateway with another identity: both answers must say the
 * same. Everything that is read is read twice through the gateway, cold and held.
 */
final class RealStoreFidelity implements AutoCloseable {
    private static final Set<String> OF_ONE_MESSAGE = Set.of("date", "server", "connection",
            "x-amz-request-id", "x-amz-id-2", "x-cache", "x-railhead-request-id", "accept-ranges",
            "x-ratelimit-limit", "x-ratelimit-remaining", "keep-alive",
            "strict-transport-security");

    private final TestClient direct;
    private final TestGateway gateway;
    private final TestClient through;

    RealStoreFidelity(URI store, Caller.Credential known) {
        direct = new TestClient(store, known.accessKey(), known.secretKey());
        gateway = TestGateway.over(store).principals("""
                principals:
                  - name: trainer
                    keys: [{access_key: MINE, secret_key: my-secret}]
                    backend_credential: {access_key: %s, secret_key: %s}
                """.formatted(known.accessKey(), known.secretKey())).start();
        through = gateway.client("MINE", "my-secret");
    }

    TestClient through() {
        return through;
    }

    TestClient direct() {
        return direct;
    }

    private static Map<String, String> fields(HttpResponse<byte[]> answer) {
        Map<String, String> fields = new TreeMap<>();
        answer.headers().map().forEach((name, values) -> {
            if (!OF_ONE_MESSAGE.contains(name.toLowerCase(Locale.ROOT))) {
                fields.put(name.toLowerCase(Locale.ROOT), String.join(",", values));
            }
        });
        return fields;
    }

    /** Ids and moments differ from one answer to the next. */
    private static String text(HttpResponse<byte[]> answer) {
        return new String(answer.body(), StandardCharsets.ISO_8859_1)
                .replaceAll("<(RequestId|HostId)>[^<]*</", "<$1></");
    }

    private static void assertSame(String what, HttpResponse<byte[]> said,
            HttpResponse<byte[]> heard) {
        assertThat(heard.statusCode()).as("%s: %s", what, text(heard)).isEqualTo(said.statusCode());
        assertThat(text(heard)).as(what).isEqualTo(text(said));
        Map<String, String> expected = fields(said);
        Map<String, String> actual = fields(heard);
        // A document with another request id in it may be longer; how it is framed is one hop's.
        if (said.statusCode() >= 300) {
            List.of(expected, actual).forEach(fields -> {
                fields.remove("content-length");
                fields.remove("transfer-encoding");
            });
        }
        assertThat(actual).as(what).isEqualTo(expected);
    }

    /** A request that changes nothing. */
    void read(String method, String target, String... headers) {
        HttpResponse<byte[]> said = direct.send(method, target, new byte[0], headers);
        for (int round = 0; round < 2; round++) {
            assertSame(method + " " + target + " " + Arrays.toString(headers) + " round " + round,
                    said, through.send(method, target, new byte[0], headers));
        }
    }

    /** GET and HEAD of one object, whole and in part, with and without its checksums. */
    void readObject(String path) {
        read("GET", path, "x-amz-checksum-mode", "ENABLED");
        read("HEAD", path, "x-amz-checksum-mode", "ENABLED");
        read("GET", path);
        read("HEAD", path);
        read("GET", path, "Range", "bytes=1-3");
        read("GET", path, "Range", "bytes=99999-");
        read("GET", path, "If-None-Match", "\"other\"");
        read("GET", path, "If-Match", "\"other\"");
        read("GET", path, "If-None-Match", etag(path));
        read("GET", path, "If-Match", etag(path));
        read("GET", path, "If-Modified-Since", "Fri, 20 Nov 2099 00:00:00 GMT");
        read("GET", path + (path.contains("?") ? "&" : "?")
                + "response-content-type=text%2Fx&response-cache-control=no-store");
    }

    private String etag(String path) {
        return direct.head(path).headers().firstValue("etag").orElseThrow();
    }

    /** Through the gateway, and it must succeed. */
    HttpResponse<byte[]> write(String method, String target, byte[] body, String... headers) {
        HttpResponse<byte[]> answer = through.send(method, target, body, headers);
        assertThat(answer.statusCode()).as("%s %s: %s", method, target, text(answer))
                .isBetween(200, 204);
        return answer;
    }

    void presigned(String method, String target, byte[] body, int status) {
        HttpRequest.Builder request = HttpRequest
                .newBuilder(through.presigned(method, target, Duration.ofMinutes(1)));
        HttpResponse<byte[]> answer = through.send(request.method(method, body.length == 0
                ? HttpRequest.BodyPublishers.noBody()
                : HttpRequest.BodyPublishers.ofByteArray(body)).build());
        assertThat(answer.statusCode()).as("%s %s: %s", method, target, text(answer))
                .isEqualTo(status);
    }

    @Override
    public void close() {
        TestGateway.await(() -> gateway.metric("railhead_requests_in_flight") == 0);
        gateway.assertNoLease();
        gateway.close();
    }
}
