package io.railhead.gateway.cluster;

import static io.railhead.gateway.TestGateway.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestCertificates;
import io.railhead.gateway.TestGateway;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Members prove themselves by certificates of one authority; who cannot stays alone. */
class ClusterTlsIT {
    private static final String APPLIED = "railhead_cluster_changes_total{direction=\"applied\",}";

    @TempDir
    private Path folder;

    private final List<String> hosts = List.of(LoopbackAddresses.next(), LoopbackAddresses.next(),
            LoopbackAddresses.next());

    private TestGateway gateway(FakeStore store, int index, String tls) {
        // The stranger is on nobody's list, so its absence suspends nothing.
        String members = hosts.stream()
                .limit(Math.max(2, index + 1))
                .map(host -> '"' + host + ":7800\"")
                .collect(Collectors.joining(", ", "[", "]"));
        return TestGateway.over(store.endpoint()).config("""
                gateway: {name: g%d}
                cluster: {listen: "%s:7800", members: %s%s}
                rules: [{freshness: immutable}]
                """.formatted(index, hosts.get(index), members, tls));
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
}
