package io.railhead.cli.reading;

import io.railhead.cli.local.Children;
import io.railhead.cli.local.Json;
import io.railhead.cli.local.Loopback;
import io.railhead.client.AdminClient;
import io.railhead.client.RailheadClient;
import io.railhead.client.RegisteredBuffer;
import io.railhead.client.Via;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A gateway as its own process, started like a user's: {@code railhead serve --config}. Its cache
 * has room for all objects, in memory or on disk, and the objects' reader may use its admin port.
 */
public final class OwnGateway implements ReadGateway, AutoCloseable {
    private static final String REQUESTS = "railhead_backend_requests_total";
    private static final String BYTES = "railhead_backend_bytes_total{";
    private static final String IN = "direction=\"in\"";
    private static final String FETCHES = "railhead_backend_fetches{";
    /** Long enough for an emulated machine. */
    private static final Duration READY_IN = Duration.ofMinutes(5);
    private static final Duration IDLE_IN = Duration.ofSeconds(10);
    private static final Duration IDLE_LOOK = Duration.ofMillis(100);
    private static final int WARM_UP_BYTES = 16 << 20;
    private static final long LEAST_MEMORY_MIB = 64;
    private static final int DATA_OF_MEMORY = 5;

    private final String freshness;
    private final Origin origin;
    private final Process process;
    private final Ports ports;

    private OwnGateway(String freshness, Origin origin, Process process, Ports ports) {
        this.freshness = freshness;
        this.origin = origin;
        this.process = process;
        this.ports = ports;
    }

    /** Free ports of the loopback address. */
    private record Ports(int listen, int health, int verbs, int admin) {

        static Ports choose() throws IOException {
            return new Ports(Loopback.freePort(), Loopback.freePort(), Loopback.freePort(),
                    Loopback.freePort());
        }

        static URI uri(int port) {
            return URI.create("http://127.0.0.1:" + port);
        }
    }

    static OwnGateway start(String freshness, Via via, Origin origin, Children children)
            throws IOException {
        // A third more than the data: pages are whole, and the reserve holds no cached data.
        long cacheMib = 128 + (origin.manifest().totalBytes() >> 20) * 4 / 3;
        return start("gateway-" + freshness, freshness, "memory: %dMiB".formatted(cacheMib), via,
                origin, children);
    }

    /** Starts a gateway whose memory has room for a fifth of the data, and its disk for all. */
    static OwnGateway startOverDisk(Via via, Origin origin, Children children)
            throws IOException {
        long dataMib = Math.ceilDiv(origin.manifest().totalBytes(), 1L << 20);
        String cache = """
                memory: %dMiB
                  window: 8MiB
                  run: 4MiB
                  disk: {paths: [%s], size: %dMiB, writes_per_day: 0, min_object: 0}
                """.formatted(Math.max(LEAST_MEMORY_MIB, dataMib / DATA_OF_MEMORY),
                Json.line(children.folder().resolve("disk").toString()), 192 + dataMib * 3 / 2);
        return start("gateway-disk", "immutable", cache.strip(), via, origin, children);
    }

    private static OwnGateway start(String name, String freshness, String cache, Via via,
            Origin origin, Children children) throws IOException {
        Ports ports = Ports.choose();
        Path config = write(name, freshness, cache, via, origin, children, ports);
        Process process = children.start(name,
                Children.railhead(List.of("-Xmx512m"), "serve", "--config", config.toString()),
                Map.of(), Redirect.appendTo(children.log(name).toFile()));
        OwnGateway gateway = new OwnGateway(freshness, origin, process, ports);
        Loopback.await(name, process, Ports.uri(ports.health()).resolve("/readyz"),
                status -> status == 200, READY_IN, children);
        return gateway;
    }

    private static Path write(String name, String freshness, String cache, Via via, Origin origin,
            Children children, Ports ports) throws IOException {
        Path socket = children.socket(name + ".sock");
        children.privateFile("credentials.yaml", """
                principals:
                  - name: reader
                    keys: [%s]
                    rdma_get: true
                    rdma_put: true
                    admin: true
                """.formatted(Json.line(origin.key())));
        return children.privateFile(name + ".yaml", """
                gateway:
                  listen: "127.0.0.1:%d"
                  health: "127.0.0.1:%d"
                  credentials: credentials.yaml
                cache:
                  %s
                backends:
                  store:
                    endpoints: [%s]
                    region: %s
                rules:
                  - bucket: %s
                    freshness: %s
                    authorization: {remember: 10m}
                rdma:
                  loopback: {enabled: true, socket: "%s"}
                  verbs: {enabled: %s, port: %d}
                admin:
                  listen: "127.0.0.1:%d"
                """.formatted(ports.listen(), ports.health(), cache,
                Json.line(origin.endpoint().toString()), Json.line(origin.region()),
                Json.line(origin.manifest().bucket()), freshness, socket, via == Via.VERBS,
                ports.verbs(), ports.admin()));
    }

    @Override
    public URI endpoint() {
        return Ports.uri(ports.listen());
    }

    @Override
    public String freshness() {
        return freshness;
    }

    @Override
    public long pid() {
        return process.pid();
    }

    @Override
    public StoreUsage spent() throws IOException {
        double requests = 0;
        double bytes = 0;
        boolean found = false;
        for (String line : metrics()) {
            if (line.startsWith(REQUESTS)) {
                found = true;
                requests += value(line);
            } else if (line.startsWith(BYTES) && line.contains(IN)) {
                bytes += value(line);
            }
        }
        if (!found) {
            throw new IOException("the gateway's metrics have no " + REQUESTS);
        }
        return new StoreUsage((long) requests, (long) bytes);
    }

    private List<String> metrics() throws IOException {
        return Loopback.text(Ports.uri(ports.health()).resolve("/metrics")).lines().toList();
    }

    /** Waits until nothing more of earlier reads comes from the store, or is to be counted. */
    private void awaitIdle() throws IOException {
        long end = System.nanoTime() + IDLE_IN.toNanos();
        @Nullable
        StoreUsage before = null;
        StoreUsage now = spent();
        while ((!now.equals(before) || isFetching()) && System.nanoTime() < end) {
            try {
                Thread.sleep(IDLE_LOOK);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("interrupted while a gateway warms up");
            }
            before = now;
            now = spent();
        }
    }

    private boolean isFetching() throws IOException {
        return metrics().stream().anyMatch(line -> line.startsWith(FETCHES) && value(line) > 0);
    }

    private static double value(String line) {
        return Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
    }

    /**
     * Reads some MiB of the objects and evicts them, repeatedly. Nothing of it is under way when it
     * returns: otherwise it would count as the next reads'.
     */
    void warmUpFills(Manifest objects, double seconds) throws IOException {
        long end = System.nanoTime() + (long) (seconds * 1e9);
        try (RailheadClient client = RailheadClient.connect(origin.config(endpoint()));
                RegisteredBuffer buffer = client.register(Manifest.PART_BYTES)) {
            while (System.nanoTime() < end) {
                fill(objects, Source.of(client, objects.bucket(), buffer), buffer.bytes());
                forget();
            }
        }
        awaitIdle();
    }

    /** Empties the cache. */
    void forget() throws IOException {
        try (AdminClient admin = AdminClient.connect(origin.config(Ports.uri(ports.admin())))) {
            admin.call("evict", Json.line(Map.of("bucket", origin.manifest().bucket(),
                    "prefix", "")), _ -> {});
        }
    }

    private static void fill(Manifest objects, Source source, long most) throws IOException {
        long left = WARM_UP_BYTES;
        for (Manifest.Entry entry : objects.entries()) {
            if (left <= 0) {
                return;
            }
            int bytes = (int) Math.min(entry.bytes(), most);
            left -= bytes;
            source.read(entry, 0, bytes, 0);
        }
    }

    @Override
    public void close() {
        Children.end(process);
    }
}
