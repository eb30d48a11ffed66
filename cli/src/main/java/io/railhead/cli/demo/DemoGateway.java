package io.railhead.cli.demo;

import io.railhead.cli.local.Children;
import io.railhead.cli.local.LocalStore;
import io.railhead.cli.local.Loopback;
import io.railhead.cli.local.ProcessCpu;
import io.railhead.client.Via;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** A gateway as its own process, started as a user would: {@code railhead serve --config}. */
record DemoGateway(Process process, URI endpoint, URI health, ProcessCpu cpu)
        implements
            AutoCloseable {
    private static final String COUNTER = "railhead_backend_requests_total";
    /** Long, for a machine that is emulated. */
    private static final Duration READY_IN = Duration.ofMinutes(5);
    private static final int LONGEST_SOCKET_PATH = 100;

    static DemoGateway start(String freshness, Via via, LocalStore store, long bytes,
            Children children)
            throws IOException {
        int port = Loopback.freePort();
        int healthPort = Loopback.freePort();
        Path config = write(freshness, via, store, bytes, children.folder(), port, healthPort);
        String name = "gateway-" + freshness;
        Process process = children.java(name, List.of("--enable-native-access=ALL-UNNAMED",
                "-Xmx512m", "-cp",
                System.getProperty("java.class.path"), "io.railhead.cli.Main", "serve",
                "--config", config.toString()), Map.of(),
                Redirect.appendTo(children.log(name).toFile()));
        URI health = URI.create("http://127.0.0.1:" + healthPort);
        Loopback.await(name, process, health.resolve("/readyz"), status -> status == 200,
                READY_IN, children);
        return new DemoGateway(process, URI.create("http://127.0.0.1:" + port), health,
                ProcessCpu.of(process.pid()));
    }

    private static Path write(String freshness, Via via, LocalStore store, long bytes, Path folder,
            int port, int healthPort) throws IOException {
        Path socket = folder.resolve("loopback-" + freshness + ".sock");
        if (socket.toString().length() > LONGEST_SOCKET_PATH) {
            throw new IOException("the temporary folder's path is too long for a UNIX socket: "
                    + folder + "; set TMPDIR to a shorter one");
        }
        Files.writeString(folder.resolve("credentials.yaml"), """
                principals:
                  - name: demo
                    keys:
                      - access_key: %s
                        secret_key: %s
                    rdma_get: true
                """.formatted(store.keys().accessKey(), store.keys().secretKey()));
        // A third more than the data: pages are whole, and the reserve holds no cached data.
        long cacheMib = 128 + (bytes >> 20) * 4 / 3;
        return Files.writeString(folder.resolve("railhead-" + freshness + ".yaml"), """
                gateway:
                  listen: "127.0.0.1:%d"
                  health: "127.0.0.1:%d"
                  credentials: credentials.yaml
                cache:
                  memory: %dMiB
                backends:
                  store:
                    endpoints: ["%s"]
                rules:
                  - bucket: demo
                    freshness: %s
                    authorization: {remember: 10m}
                rdma:
                  loopback: {enabled: true, socket: "%s"}
                  verbs: {enabled: %s, port: %d}
                admin:
                  listen: "127.0.0.1:%d"
                """.formatted(port, healthPort, cacheMib, store.endpoint(), freshness, socket,
                via == Via.VERBS, Loopback.freePort(), Loopback.freePort()));
    }

    /** How many requests it has sent to the store so far, of every kind. */
    long backendRequests() throws IOException {
        double sum = 0;
        boolean found = false;
        for (String line : Loopback.ask(health.resolve("/metrics")).body().lines().toList()) {
            if (line.startsWith(COUNTER + "{") || line.startsWith(COUNTER + " ")) {
                found = true;
                sum += Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
            }
        }
        if (!found) {
            throw new IOException("the gateway's metrics have no " + COUNTER);
        }
        return (long) sum;
    }

    @Override
    public void close() {
        Children.end(process);
    }
}
