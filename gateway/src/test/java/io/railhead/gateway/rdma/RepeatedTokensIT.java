package io.railhead.gateway.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestCertificates;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.gateway.frontdoor.RawConnection;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Clients that read or write the same memory several times a second: SigV4's dates have whole
 * seconds, so such requests are equal. Who else repeats one is refused.
 */
class RepeatedTokensIT {
    private static final int SIZE = 300_000;
    private static final int MARK = 0x5a;
    private static final String RULES = """
            rules:
              - freshness: immutable
            """;
    private static final String SEVERAL_TENANTS = TestGateway.UPLOADER + """
              - name: other
                tenant: other
                keys: [{access_key: OTHER, secret_key: other-secret}]
            """;

    private final byte[] object = new byte[SIZE];
    private final AtomicLong passedNanos = new AtomicLong();
    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store)
            .config(RULES)
            .principals(TestGateway.UPLOADER)
            .clock(() -> System.nanoTime() + passedNanos.get());
    private TestClient client = gateway.client();
    private TestPeer peer;

    private TestPeer connect() {
        TestPeer connected = gateway.closing(new TestPeer(client, "SK", SIZE));
        connected.set(0, object);
        return connected;
    }

    @BeforeEach
    void start() {
        new Random(1).nextBytes(object);
        store.put("/b/object", object);
        peer = connect();
    }

    private void restartWithSeveralTenants(String config) {
        peer.close();
        gateway.assertNoLease();
        gateway.principals(SEVERAL_TENANTS).restart(config);
    }

    private static HttpResponse<byte[]> onAnotherConnection(HttpRequest request) throws Exception {
        return HttpClient.newHttpClient().send(request, BodyHandlers.ofByteArray());
    }

    private HttpRequest signed(String method, String path) {
        return client.signed(method, path, new byte[0], peer.headers(0, SIZE));
    }

    private void assertDelivered(HttpResponse<byte[]> answer) {
        assertThat(answer.headers().firstValue("x-amz-rdma-reply"))
                .as(new String(answer.body()))
                .contains("200");
        assertThat(peer.bytes(0, SIZE)).isEqualTo(object);
        peer.fill(MARK);
    }

    private void assertReplayed(HttpResponse<byte[]> answer) {
        assertThat(new String(answer.body())).contains("<Code>RDMATokenReplayed</Code>");
        assertThat(answer.statusCode()).isEqualTo(403);
        assertThat(peer.isAll(MARK)).as("no byte was written").isTrue();
    }

    @Test
    void aRangeIsReadAgainAndAgain() throws Exception {
        HttpRequest once = signed("GET", "/b/object");
        for (int i = 0; i < 20; i++) {
            assertDelivered(client.send(once));
            assertDelivered(onAnotherConnection(once));
        }
        assertThat(gateway.metric("railhead_rdma_repeats_total")).isEqualTo(39);
    }

    @Test
    void anObjectIsWrittenAgainAndAgain() throws Exception {
        HttpRequest once = signed("PUT", "/b/up");
        for (int i = 0; i < 10; i++) {
            assertThat(client.send(once).statusCode()).isEqualTo(200);
            assertThat(onAnotherConnection(once).statusCode()).isEqualTo(200);
        }
        assertThat(store.object("/b/up")).isEqualTo(object);
        assertThat(store.count("PUT /b/up")).isEqualTo(20);
    }

    @Test
    void aRequestIsRepeatedWhileTheFirstIsUnderWay() throws Exception {
        CountDownLatch reached = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        store.fault((_, _) -> {
            reached.countDown();
            TestGateway.await(release);
            return false;
        });
        HttpRequest once = signed("GET", "/b/object");
        List<CompletableFuture<HttpResponse<byte[]>>> all = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            all.add(HttpClient.newHttpClient().sendAsync(once, BodyHandlers.ofByteArray()));
        }
        TestGateway.await(reached);
        TestGateway.await(() -> gateway.metric("railhead_rdma_repeats_total") == 3);
        release.countDown();
        for (CompletableFuture<HttpResponse<byte[]>> answer : all) {
            assertThat(answer.join().headers().firstValue("x-amz-rdma-reply")).contains("200");
        }
        assertThat(peer.bytes(0, SIZE)).isEqualTo(object);
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET", "PUT"})
    void aLateRepeatIsRefused(String method) {
        HttpRequest once = signed(method, "/b/object");
        assertThat(client.send(once).statusCode()).isEqualTo(200);
        peer.fill(MARK);
        passedNanos.set(Duration.ofMillis(2001).toNanos());
        assertReplayed(client.send(once));
        assertThat(store.object("/b/object")).as("no byte was read").isEqualTo(object);
        assertThat(gateway.metric("railhead_rdma_refused_total{reason=\"RDMATokenReplayed\",}"))
                .isOne();
    }

    @Test
    void anotherPeersRepeatIsRefused() throws Exception {
        HttpRequest once = signed("GET", "/b/object");
        assertDelivered(client.send(once));
        HttpClient elsewhere = HttpClient.newBuilder()
                .localAddress(InetAddress.ofLiteral("127.0.0.2"))
                .build();
        assertReplayed(elsewhere.send(once, BodyHandlers.ofByteArray()));
    }

    @Test
    void amongSeveralTenantsARepeatInCleartextIsOfTheSameConnection() throws Exception {
        restartWithSeveralTenants(RULES);
        peer = connect();
        HttpRequest once = signed("GET", "/b/object");
        String head = RawConnection.head(once) + "\r\n";
        try (RawConnection connection = new RawConnection(gateway.endpoint())) {
            for (int i = 0; i < 3; i++) {
                assertThat(connection.send(head).receive().headers())
                        .containsEntry("x-amz-rdma-reply", "200");
                assertThat(peer.bytes(0, SIZE)).isEqualTo(object);
                peer.fill(MARK);
            }
        }
        assertReplayed(onAnotherConnection(once));
    }

    @Test
    void amongSeveralTenantsAPoolRepeatsOverTls(@TempDir Path folder)
            throws IOException, Exception {
        TestCertificates certificates = new TestCertificates(folder).create("own", "EC");
        restartWithSeveralTenants(RULES + """
                gateway:
                  tls:
                    certificate: %s
                    key: %s
                """.formatted(certificates.certificate("own"), certificates.key("own")));
        var endpoint = URI.create("https://127.0.0.1:" + gateway.endpoint().getPort());
        var context = certificates.context(List.of("own"), null);
        client = new TestClient(endpoint, "AK", "SK", context);
        peer = connect();
        HttpRequest once = signed("GET", "/b/object");
        for (int i = 0; i < 3; i++) {
            assertDelivered(client.send(once));
            HttpClient another = HttpClient.newBuilder().sslContext(context).build();
            assertDelivered(another.send(once, BodyHandlers.ofByteArray()));
        }
    }
}
