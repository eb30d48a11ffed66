package io.railhead.gateway.rdma.pairing;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.rdma.pairing.RcDescriptor;
import java.net.InetAddress;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What clients that bring a queue pair are told where there is none for them; without an adapter.
 */
class PairingRefusalsIT {
    private static final String CONNECT = "/.s3rdma-rc/connect";
    private static final String PREPARE = "/.hipobj-rc/prepare";
    private static final String TOKEN = new RcDescriptor(7, InetAddress.ofLiteral("127.0.0.1"), 0,
            0, 0, 1, 0).format();
    private static final String[] CONNECTING = {"x-amz-rdma-token", TOKEN, "x-amz-rdma-psn",
            "00000f"};
    private static final String[] PREPARING = {"x-amz-rdma-protocol", "hipobj-rc-v2",
            "x-amz-rdma-token", TOKEN, "x-amz-rdma-psn", "00000f", "x-amz-rdma-cookie", "deadbeef",
            "x-amz-rdma-op", "GET", "x-amz-rdma-target", "/b/k", "x-amz-rdma-size", "1"};
    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store);
    private final TestClient client = gateway.client();

    private HttpResponse<byte[]> post(String path, String... headers) {
        return client.send("POST", path, new byte[0], headers);
    }

    private static String header(HttpResponse<?> answer, String name) {
        return answer.headers().firstValue(name).orElse("");
    }

    @Test
    void withoutAnAdapterEachIsToldInItsOwnForm() {
        HttpResponse<byte[]> connect = post(CONNECT, CONNECTING);
        assertThat(connect.statusCode()).isEqualTo(501);
        assertThat(header(connect, "x-railhead-rdma-declined")).isEqualTo("fabric");
        assertThat(header(connect, "x-amz-rdma-session")).isEmpty();
        HttpResponse<byte[]> prepare = post(PREPARE, PREPARING);
        assertThat(prepare.statusCode()).isEqualTo(501);
        assertThat(header(prepare, "x-amz-rdma-protocol-status")).isEqualTo("unsupported");
        assertThat(gateway.metric("railhead_rdma_declined_total{reason=\"fabric\",}"))
                .isEqualTo(2);
        assertThat(store.requests()).as("of the store nothing is asked")
                .noneMatch(request -> request.contains("/b"));
    }

    @Test
    void anotherProtocolIsUnsupported() {
        String[] other = PREPARING.clone();
        other[1] = "hipobj-rc-v3";
        assertThat(header(post(PREPARE, other), "x-amz-rdma-protocol-status"))
                .isEqualTo("unsupported");
    }

    @ParameterizedTest
    @ValueSource(strings = {CONNECT, PREPARE})
    void whoeverHasNotSignedAllOfItIsRefused(String path) {
        String[] headers = path.equals(CONNECT) ? CONNECTING : PREPARING;
        HttpRequest.Builder unsigned = HttpRequest
                .newBuilder(gateway.endpoint().resolve(path))
                .POST(HttpRequest.BodyPublishers.noBody());
        for (int i = 0; i < headers.length; i += 2) {
            unsigned.header(headers[i], headers[i + 1]);
        }
        assertThat(client.send(unsigned.build()).statusCode()).isEqualTo(403);

        // All but the last header are signed.
        String[] fewer = Arrays.copyOf(headers, headers.length - 2);
        HttpRequest signed = client.signed("POST", path, new byte[0], fewer);
        HttpRequest added = HttpRequest.newBuilder(signed, (_, _) -> true)
                .header(headers[headers.length - 2], headers[headers.length - 1])
                .build();
        HttpResponse<byte[]> answer = client.send(added);
        assertThat(answer.statusCode()).isEqualTo(403);
        assertThat(new String(answer.body(), StandardCharsets.UTF_8))
                .contains("RDMATokenNotSigned");
    }

    @ParameterizedTest
    @ValueSource(strings = {CONNECT, PREPARE})
    void aSignatureIsGoodOnceAndNotForLong(String path) {
        String[] headers = path.equals(CONNECT) ? CONNECTING : PREPARING;
        HttpRequest request = client.signed("POST", path, new byte[0], headers);
        assertThat(client.send(request).statusCode()).isEqualTo(501);
        assertThat(client.send(request).statusCode()).isEqualTo(403);
        HttpResponse<byte[]> old = client
                .at(Clock.offset(Clock.systemUTC(), Duration.ofSeconds(-90)))
                .send("POST", path, new byte[0], headers);
        assertThat(old.statusCode()).isEqualTo(403);
        assertThat(gateway.metric("railhead_rdma_refused_total{reason=\"replayed\",}")).isOne();
        assertThat(gateway.metric("railhead_rdma_refused_total{reason=\"stale\",}")).isOne();
    }

    @Test
    void onlyPostPairs() {
        assertThat(client.get(CONNECT, CONNECTING).statusCode()).isEqualTo(405);
    }

    @Test
    void aBucketWithAPathLikeItIsABucketsStill() {
        assertThat(client.get("/.hipobj-rc/other").statusCode()).isEqualTo(404);
    }
}
