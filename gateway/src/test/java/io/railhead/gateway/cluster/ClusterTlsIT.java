package io.railhead.gateway.cluster;

import static io.railhead.gateway.RandomBytes.random;
import static io.railhead.gateway.TestGateway.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestCertificates;
import io.railhead.gateway.TestGateway;
import java.io.IOException;
import java.net.Proxy;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.stream.Collectors;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Members prove themselves by certificates of one authority; who cannot stays alone. */
class ClusterTlsIT {
    private static final String FILLED = "railhead_cluster_peer_fills_total{result=\"filled\",}";
    private static final String APPLIED = "railhead_cluster_changes_total{direction=\"applied\",}";

    private static final String RELOADS = "railhead_file_reloads_total{setting=\"cluster_tls\",outcome=\"used\",}";

    @TempDir
    private Path folder;

    private final List<String> hosts = List.of(LoopbackAddresses.next(), LoopbackAddresses.next(),
            LoopbackAddresses.next());

    private TestGateway gateway(FakeStore store, int index, String tls) {
        return gateway(store, index, tls, "");
    }

    private TestGateway gateway(FakeStore store, int index, String tls, String more) {
        // The stranger is on nobody's list, so its absence suspends nothing.
        String members = hosts.stream()
                .limit(Math.max(2, index + 1))
                .map(host -> '"' + host + ":7800\"")
                .collect(Collectors.joining(", ", "[", "]"));
        return TestGateway.over(store.endpoint()).config("""
                gateway: {name: g%d}
                cluster: {listen: "%s:7800", members: %s%s}
                rules: [{freshness: immutable}]
                """.formatted(index, hosts.get(index), members, tls) + more);
    }

    private String tls(String own, String authority) {
        return ", tls: {certificate: %s, key: %s, client_ca: %s}".formatted(
                folder.resolve(own + ".pem"), folder.resolve(own + ".key"),
                folder.resolve(authority + ".pem"));
    }

    @Test
    void anotherAuthorityOrNoCertificateStaysAloneAndChangesNothing() throws Exception {
        new TestCertificates(folder).create("member", "EC").create("stranger", "EC");
        try (FakeStore store = new FakeStore();
                TestGateway one = gateway(store, 0, tls("member", "member"));
                TestGateway other = gateway(store, 1, tls("member", "member"));
                // It trusts the members, who do not trust it.
                TestGateway stranger = gateway(store, 2, tls("stranger", "member"));
                TestGateway bare = gateway(store, 2, "")) {
            one.start();
            other.start();
            await(() -> one.metric("railhead_cluster_members") == 2
                    && other.metric("railhead_cluster_members") == 2
                    && one.metric("railhead_cluster_lease") == 1);
            store.put("/b/k", new byte[]{1});
            assertThat(one.client().get("/b/k").body()).containsExactly(1);
            for (TestGateway alone : List.of(stranger, bare)) {
                double applied = one.metric(APPLIED);
                alone.start();
                assertThat(alone.metric("railhead_cluster_members")).isEqualTo(1);
                assertThat(alone.client().put("/b/k", new byte[]{2}).statusCode()).isEqualTo(200);
                assertThat(one.client().get("/b/k").body()).containsExactly(1);
                assertThat(one.metric("railhead_cluster_members")).isEqualTo(2);
                assertThat(one.metric(APPLIED)).isEqualTo(applied);
                alone.close();
            }
            assertThat(other.client().put("/b/k", new byte[]{3}).statusCode()).isEqualTo(200);
            assertThat(one.client().get("/b/k").body()).containsExactly(3);
        }
    }

    @Test
    void onlyMembersAreAnsweredAtThePortForFills() throws Exception {
        TestCertificates certificates = new TestCertificates(folder).create("member", "EC")
                .create("stranger", "EC");
        try (FakeStore store = new FakeStore();
                TestGateway one = sharing(store, 0);
                TestGateway other = sharing(store, 1)) {
            one.start();
            other.start();
            await(() -> shares(one) && shares(other));
            byte[] object = random(1, 3 << 20);
            store.put("/b/shared", object);
            assertThat(one.client().get("/b/shared").body()).isEqualTo(object);
            assertThat(other.client().get("/b/shared").body()).isEqualTo(object);
            assertThat(one.metric(FILLED) + other.metric(FILLED)).isPositive();
            assertThat(store.count("GET /b/shared ")).isLessThanOrEqualTo(7);
            assertThat(status(certificates.context(List.of("member"), "member"))).isEqualTo(404);
            assertThatThrownBy(() -> status(certificates.context(List.of("member"), "stranger")))
                    .isInstanceOf(IOException.class);
            assertThatThrownBy(() -> status(certificates.context(List.of("member"), null)))
                    .isInstanceOf(IOException.class);
        }
    }

    @Test
    void certificatesAndTheirAuthorityAreRenewedWithoutARestart() throws Exception {
        TestCertificates certificates = new TestCertificates(folder).create("former", "EC")
                .create("next", "EC");
        prove("former");
        trust("former");
        try (FakeStore store = new FakeStore();
                TestGateway one = sharing(store, 0);
                TestGateway other = sharing(store, 1)) {
            List<TestGateway> both = List.of(one, other);
            one.start();
            other.start();
            await(() -> shares(one) && shares(other));
            afterReload(both, () -> trust("former", "next"));
            afterReload(both, () -> prove("next"));
            afterReload(both, () -> trust("next"));
            // No member has asked the other before, so each connection is a new one.
            byte[] object = random(1, 3 << 20);
            store.put("/b/shared", object);
            assertThat(one.client().get("/b/shared").body()).isEqualTo(object);
            assertThat(other.client().get("/b/shared").body()).isEqualTo(object);
            assertThat(one.metric(FILLED) + other.metric(FILLED)).isPositive();
            assertThat(one.metric("railhead_cluster_members")).isEqualTo(2);
            assertThat(status(certificates.context(List.of("next"), "next"))).isEqualTo(404);
            assertThatThrownBy(() -> status(certificates.context(List.of("next"), "former")))
                    .isInstanceOf(IOException.class);
            assertThatThrownBy(() -> status(certificates.context(List.of("former"), "next")))
                    .isInstanceOf(IOException.class);
        }
    }

    private void prove(String name) throws IOException {
        replace("member.key", Files.readString(folder.resolve(name + ".key")));
        replace("member.pem", Files.readString(folder.resolve(name + ".pem")));
    }

    private void trust(String... names) throws IOException {
        StringBuilder authorities = new StringBuilder();
        for (String name : names) {
            authorities.append(Files.readString(folder.resolve(name + ".pem")));
        }
        replace("authority.pem", authorities.toString());
    }

    private void replace(String file, String content) throws IOException {
        Path written = Files.writeString(folder.resolve(file + ".new"), content);
        Files.move(written, folder.resolve(file), StandardCopyOption.ATOMIC_MOVE);
    }

    /** Waits until both the members' port and that for fills have what was changed. */
    private static void afterReload(List<TestGateway> gateways, Change change) throws IOException {
        double[] before = gateways.stream().mapToDouble(each -> each.metric(RELOADS)).toArray();
        change.make();
        for (int i = 0; i < before.length; i++) {
            TestGateway gateway = gateways.get(i);
            double least = before[i] + 2;
            await(() -> gateway.metric(RELOADS) >= least);
        }
    }

    private interface Change {
        void make() throws IOException;
    }

    private TestGateway sharing(FakeStore store, int index) {
        String authority = Files.exists(folder.resolve("authority.pem")) ? "authority" : "member";
        return gateway(store, index, tls("member", authority) + ", fills: \"" + hosts.get(index)
                + ":7801\"", "cache: {page: 64KiB, run: 512KiB}")
                .environment(ThreeGateways.PATIENT);
    }

    private static boolean shares(TestGateway gateway) {
        return gateway.metric("railhead_cluster_lease") == 1
                && gateway.status().getJsonObject("cluster").encode().contains(":7801");
    }

    private int status(SSLContext context) throws Exception {
        HttpsURLConnection asked = (HttpsURLConnection) URI
                .create("https://" + hosts.getFirst() + ":7801/")
                .toURL()
                .openConnection(Proxy.NO_PROXY);
        asked.setSSLSocketFactory(context.getSocketFactory());
        asked.setHostnameVerifier((_, _) -> true);
        return asked.getResponseCode();
    }
}
