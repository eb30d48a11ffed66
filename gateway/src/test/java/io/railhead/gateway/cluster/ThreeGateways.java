package io.railhead.gateway.cluster;

import static io.railhead.gateway.TestGateway.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.Environment;
import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Three gateways over one store, whose caches are one. */
final class ThreeGateways implements AutoCloseable {
    /** Owners answer in time, however busy the machine is. */
    static final Environment PATIENT = Environment.REAL
            .withOwnersWait(Duration.ofSeconds(20));
    private static final String PRINCIPALS = """
            principals:
              - name: trainer
                keys: [{access_key: AK, secret_key: SK}]
                admin: true
                rdma_put: true
            """;

    final FakeStore store = new FakeStore();
    final List<TestGateway> gateways = new ArrayList<>();
    final List<TestClient> clients = new ArrayList<>();
    final List<SwitchedLink> links = new ArrayList<>();
    private final List<String> hosts;
    private final List<String> clusters = new ArrayList<>();

    /** @param config of all, in the tests' YAML, beside {@code cluster:} */
    ThreeGateways(String config) {
        this(config, "", Map.of());
    }

    /**
     * @param gatewayKeys more keys of {@code gateway:}, each with a comma before it
     * @param files beside each configuration, by name
     */
    ThreeGateways(String config, String gatewayKeys, Map<String, String> files) {
        this(config, gatewayKeys, files, PATIENT);
    }

    /** @param environment of all, whose links are wrapped */
    ThreeGateways(String config, String gatewayKeys, Map<String, String> files,
            Environment environment) {
        hosts = List.of(LoopbackAddresses.next(), LoopbackAddresses.next(),
                LoopbackAddresses.next());
        String members = hosts.stream()
                .map(host -> '"' + host + ":7800\"")
                .collect(Collectors.joining(", ", "[", "]"));
        for (int i = 0; i < hosts.size(); i++) {
            clusters.add("""
                    gateway: {name: g%d, events: {enabled: true, token_file: events.token}%s}
                    cluster: {name: test, listen: "%s:7800", members: %s, fills: "%s:7801"}
                    """.formatted(i, gatewayKeys, hosts.get(i), members, hosts.get(i)));
            TestGateway gateway = TestGateway.over(store.endpoint())
                    .principals(PRINCIPALS)
                    .file("events.token", "a-token-of-the-events-of-a-store")
                    .environment(environment.withLinks(link -> {
                        SwitchedLink switched = new SwitchedLink(link);
                        links.add(switched);
                        return switched;
                    }))
                    .config(clusters.get(i) + config);
            files.forEach(gateway::file);
            gateways.add(gateway);
            gateway.start();
            clients.add(gateway.client());
        }
        awaitAll();
    }

    /** Returns the address at which a gateway answers fills. */
    String fills(int index) {
        return hosts.get(index) + ":7801";
    }

    /** Starts one of them anew, in another configuration. */
    void restart(int index, String config) {
        gateways.get(index).restart(clusters.get(index) + config);
        awaitAll();
    }

    private void awaitAll() {
        await(() -> gateways.stream()
                .allMatch(each -> each.metric("railhead_cluster_members") == 3
                        && each.metric("railhead_cluster_lease") == 1 && sharers(each) == 2));
    }

    /** Returns the number of others that share objects out, as a gateway sees them. */
    private static long sharers(TestGateway gateway) {
        return gateway.status()
                .getJsonObject("cluster")
                .getJsonArray("members")
                .stream()
                .map(each -> ((JsonObject) each).getString("fills", ""))
                .filter(fills -> !fills.isEmpty())
                .count();
    }

    /** Has every gateway hold these bytes and serve them unasked. */
    void hold(String path, byte[] expected) {
        for (TestClient client : clients) {
            await(() -> {
                HttpResponse<byte[]> answer = client.get(path);
                assertThat(answer.body()).isEqualTo(expected);
                return TestClient.cached(answer).equals("HIT");
            });
        }
    }

    /** Requires that each gateway serves these bytes. */
    void eachServes(String path, byte[] expected) {
        for (TestClient client : clients) {
            assertThat(client.get(path).body()).as(path).isEqualTo(expected);
        }
    }

    void eachHasNothing(String path) {
        for (TestClient client : clients) {
            assertThat(client.get(path).statusCode()).as(path).isEqualTo(404);
        }
    }

    @Override
    public void close() {
        try {
            gateways.forEach(TestGateway::close);
        } finally {
            store.close();
        }
    }
}
