package io.railhead.gateway.s3.sigv4;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** URLs that carry their own signature. */
class PresignedIT {
    private static final byte[] OBJECT = "weights of a very small model".getBytes();
    private static final Duration HOUR = Duration.ofHours(1);

    private final HttpClient http = HttpClient.newHttpClient();
    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            rules:
              - freshness: immutable
            """);
    private final TestClient client = gateway.client();

    @BeforeEach
    void start() {
        store.put("/b/key", OBJECT);
    }

    private HttpResponse<byte[]> get(URI uri, String... headers) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(uri);
        if (headers.length > 0) {
            request.headers(headers);
        }
        return http.send(request.build(), BodyHandlers.ofByteArray());
    }

    @Test
    void anObjectIsReadWholeAndInRangesColdAndHeld() throws Exception {
        URI uri = client.presigned("GET", "/b/key", HOUR);
        for (int round = 0; round < 2; round++) {
            assertThat(get(uri).body()).isEqualTo(OBJECT);
            HttpResponse<byte[]> some = get(uri, "Range", "bytes=0-6");
            assertThat(some.statusCode()).isEqualTo(206);
            assertThat(new String(some.body())).isEqualTo("weights");
        }
        assertThat(store.count("GET /b/key")).isEqualTo(1);
    }

    @Test
    void aHeaderOfTheAnswerIsReplacedAsSigned() throws Exception {
        URI uri = client.presigned("GET", "/b/key?response-content-type=text%2Fx-model", HOUR);
        for (int round = 0; round < 2; round++) {
            HttpResponse<byte[]> answer = get(uri);
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.headers().firstValue("content-type")).contains("text/x-model");
        }
    }

    /** As the store would send it: a plus is a space, and the rest is UTF-8. */
    @Test
    void whatReplacesAHeaderIsReadAsTheStoreReadsIt() throws Exception {
        URI uri = client.presigned("GET",
                "/b/key?response-content-disposition=a%3B+b%3D%E6%8A%A5+%C3%A9%2B", HOUR);
        for (int round = 0; round < 2; round++) {
            String sent = get(uri).headers().firstValue("content-disposition").orElseThrow();
            assertThat(new String(sent.getBytes(StandardCharsets.ISO_8859_1),
                    StandardCharsets.UTF_8)).isEqualTo("a; b=\u62a5 \u00e9+");
        }
    }

    @Test
    void aReplacementThatWouldBreakTheHeadIsRefused() throws Exception {
        client.get("/b/key");
        for (String method : new String[]{"GET", "HEAD"}) {
            URI uri = client.presigned(method,
                    "/b/key?response-content-type=a%0D%0Ax-injected:%201", HOUR);
            HttpResponse<byte[]> answer = http.send(HttpRequest.newBuilder(uri)
                    .method(method, HttpRequest.BodyPublishers.noBody())
                    .build(),
                    BodyHandlers.ofByteArray());
            assertThat(answer.statusCode()).isEqualTo(400);
            assertThat(answer.headers().firstValue("x-injected")).isEmpty();
        }
    }

    @Test
    void anObjectIsWritten() throws Exception {
        HttpRequest put = HttpRequest.newBuilder(client.presigned("PUT", "/b/new", HOUR))
                .PUT(HttpRequest.BodyPublishers.ofByteArray(OBJECT))
                .build();
        assertThat(http.send(put, BodyHandlers.ofByteArray()).statusCode()).isEqualTo(200);
        assertThat(store.object("/b/new")).isEqualTo(OBJECT);
    }

    @Test
    void aWrongHashThatNobodySignedStoresNothing() throws Exception {
        HttpRequest put = HttpRequest.newBuilder(client.presigned("PUT", "/b/new", HOUR))
                .header("x-amz-content-sha256", "0".repeat(64))
                .PUT(HttpRequest.BodyPublishers.ofByteArray(OBJECT))
                .build();
        assertThat(http.send(put, BodyHandlers.ofByteArray()).statusCode()).isEqualTo(403);
        assertThat(store.count("PUT /b/new")).isZero();
    }

    /** AWS S3 names it among the headers that were not signed. */
    @Test
    void anUnsignedHeaderThatChangesTheObjectIsRefused() throws Exception {
        for (String header : new String[]{"x-amz-acl", "x-amz-tagging", "x-amz-storage-class"}) {
            HttpRequest put = HttpRequest.newBuilder(client.presigned("PUT", "/b/new", HOUR))
                    .header(header, "a")
                    .PUT(HttpRequest.BodyPublishers.ofByteArray(OBJECT))
                    .build();
            HttpResponse<byte[]> answer = http.send(put, BodyHandlers.ofByteArray());
            assertThat(answer.statusCode()).isEqualTo(403);
            assertThat(new String(answer.body())).contains("which were not signed");
        }
        assertThat(store.count("PUT /b/new")).isZero();
    }

    @Test
    void whatHasExpiredOrWasChangedIsRefused() throws Exception {
        Clock twoHoursAgo = Clock.offset(Clock.systemUTC(), Duration.ofHours(-2));
        HttpResponse<byte[]> expired = get(client.at(twoHoursAgo).presigned("GET", "/b/key", HOUR));
        assertThat(expired.statusCode()).isEqualTo(403);
        assertThat(new String(expired.body())).contains("<Code>AccessDenied</Code>");
        URI other = URI.create(
                client.presigned("GET", "/b/key", HOUR).toString().replace("/b/key", "/b/other"));
        HttpResponse<byte[]> changed = get(other);
        assertThat(changed.statusCode()).isEqualTo(403);
        assertThat(new String(changed.body())).contains("<Code>SignatureDoesNotMatch</Code>");
    }

    @Test
    void anRdmaTokenIsNotTakenWithAPresignedUrl() throws Exception {
        try (TestPeer peer = new TestPeer(client, "SK", 4096)) {
            peer.fill(4);
            HttpResponse<byte[]> answer = get(client.presigned("GET", "/b/key", HOUR),
                    "x-amz-rdma-token",
                    peer.token(0, 4096).format());
            assertThat(answer.statusCode()).isEqualTo(403);
            assertThat(peer.isAll(4)).isTrue();
        }
    }
}
