package io.railhead.gateway.frontdoor;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Buckets in the host name, beside buckets in the path, on one listener. */
class VirtualHostIT {
    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            gateway:
              domains: [S3.Rack1, rack1]
            """);

    private RawConnection.Answer get(String host, String path) {
        Map<String, String> signed = new TestClient(gateway.endpoint(), "AK", "SK")
                .signedFor(host, path);
        StringBuilder head = new StringBuilder("GET " + path + " HTTP/1.1\r\n");
        signed.forEach(
                (name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            return raw.send(head + "\r\n").receive();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"my.bucket.s3.rack1", "my.bucket.s3.rack1:9000",
            "My.Bucket.S3.RACK1:80",
            "my.bucket.rack1", "my.bucket.s3.rack1."})
    void theHostNamesTheBucketAndThePathIsTheKey(String host) {
        store.put("/my.bucket/a//b/../k", "found".getBytes());
        RawConnection.Answer answer = get(host, "/a//b/..%2Fk");
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        assertThat(answer.body()).isEqualTo("found");
    }

    @ParameterizedTest
    @ValueSource(strings = {"s3.rack1", "s3.rack1:9000", "127.0.0.1", "[::1]:9000", "elsewhere"})
    void otherwiseThePathNamesIt(String host) {
        store.put("/bucket/key", "found".getBytes());
        assertThat(get(host, "/bucket/key").body()).isEqualTo("found");
    }

    /** Decoded once more, as a path is, it would name an object. */
    @Test
    void aHostThatNamesNoBucketIsRefused() {
        store.put("/a/b/key", "another's".getBytes());
        assertThat(get("a%2Fb.s3.rack1", "/key").body()).contains("<Code>InvalidBucketName</Code>");
        assertThat(store.requests()).noneMatch(line -> line.contains("/key"));
    }

    @Test
    void behindABucketsHostOurOwnPathsAreKeys() {
        store.put("/bucket/.railhead/endpoints", "an object".getBytes());
        assertThat(get("bucket.s3.rack1", "/.railhead/endpoints").body()).isEqualTo("an object");
        assertThat(get("s3.rack1", "/.railhead/endpoints").body()).contains("\"fabrics\"");
    }
}
