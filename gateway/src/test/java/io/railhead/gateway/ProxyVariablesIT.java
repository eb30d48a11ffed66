package io.railhead.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.testing.ConnectProxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A gateway whose environment and properties name a proxy, which its configuration does not. */
class ProxyVariablesIT {
    @Test
    void noneOfThemCountsAndTheLogNamesThem(@TempDir Path folder) throws Exception {
        Files.writeString(folder.resolve("credentials.yaml"), TestGateway.TRAINER);
        try (FakeStore store = new FakeStore();
                ConnectProxy proxy = new ConnectProxy(
                        store.endpoint())) {
            Path config = Files.writeString(folder.resolve("railhead.yaml"), """
                    gateway:
                      listen: 127.0.0.1:0
                      health: 127.0.0.1:0
                      credentials: credentials.yaml
                    cache: {memory: 64MiB}
                    backends:
                      store: {endpoints: [%s]}
                    rdma: {loopback: {enabled: false}}
                    """.formatted(store.endpoint()));
            store.put("/b/key", new byte[10]);
            String port = String.valueOf(proxy.port());
            String url = "http://127.0.0.1:" + port;
            try (GatewayProcess running = GatewayProcess.start(config,
                    Map.of("HTTP_PROXY", url, "http_proxy", url, "https_proxy", url, "NO_PROXY",
                            "example.com"),
                    "-Dhttp.proxyHost=127.0.0.1", "-Dhttp.proxyPort=" + port,
                    "-Dhttp.nonProxyHosts=")) {
                TestClient client = new TestClient(running.endpoint(), "AK", "SK");
                assertThat(client.get("/b/key").statusCode()).isEqualTo(200);
                assertThat(running.log()).contains("-Dhttp.proxyHost", "HTTP_PROXY", "https_proxy",
                        "NO_PROXY", "backends.NAME.proxy");
                running.terminate();
            }
            assertThat(proxy.heads()).isEmpty();
        }
    }
}
