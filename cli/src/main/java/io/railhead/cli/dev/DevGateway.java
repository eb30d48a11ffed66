package io.railhead.cli.dev;

import io.railhead.cli.local.Children;
import io.railhead.cli.local.Json;
import io.railhead.cli.local.LocalStore;
import io.railhead.cli.local.Loopback;
import io.railhead.gateway.config.ByteCount;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * A gateway in front of a local store, as its own process. Its configuration is a file like a
 * user's.
 *
 * @param endpoint the address for S3
 * @param statusPage the status page on the admin port
 * @param health the health port
 * @param process the gateway's process
 */
record DevGateway(URI endpoint, URI statusPage, URI health, Process process) {
    static final String NAME = "gateway";
    private static final Duration READY_IN = Duration.ofMinutes(5);

    /** Starts the gateway and waits until it is ready. */
    static DevGateway start(int port, ByteCount cache, LocalStore store, Children children)
            throws IOException {
        int admin = Loopback.freePort();
        int health = Loopback.freePort();
        Path config = children.privateFile("railhead.yaml",
                config(port, health, admin, cache, store, children.socket("loopback.sock")));
        children.privateFile("credentials.yaml", """
                principals:
                  - name: developer
                    keys: [%s]
                    rdma_get: true
                    rdma_put: true
                    admin: true
                """.formatted(Json.line(store.keys())));
        Process process = children.start(NAME,
                Children.railhead(List.of("-Xmx512m"), "serve", "--config", config.toString()),
                Map.of(), Redirect.appendTo(children.log(NAME).toFile()));
        DevGateway gateway = new DevGateway(uri(port), uri(admin), uri(health), process);
        Loopback.await(NAME, process, gateway.health.resolve("/readyz"), status -> status == 200,
                READY_IN, children);
        return gateway;
    }

    private static String config(int port, int health, int admin, ByteCount cache,
            LocalStore store, Path socket) {
        return """
                gateway:
                  listen: "127.0.0.1:%d"
                  health: "127.0.0.1:%d"
                  credentials: credentials.yaml
                cache:
                  memory: %s
                backends:
                  store:
                    endpoints: [%s]
                    region: us-east-1
                rules:
                  - freshness: strong
                rdma:
                  loopback: {enabled: true, socket: "%s"}
                admin:
                  listen: "127.0.0.1:%d"
                """.formatted(port, health, cache, Json.line(store.endpoint().toString()), socket,
                admin);
    }

    private static URI uri(int port) {
        return URI.create("http://127.0.0.1:" + port + "/");
    }
}
