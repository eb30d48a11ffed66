package io.railhead.cli.demo;

import io.railhead.cli.local.Children;
import io.railhead.cli.local.LocalStore;
import io.railhead.client.ClientConfig;
import io.railhead.client.ObjectName;
import io.railhead.client.Progress;
import io.railhead.client.RailheadClient;
import io.railhead.client.Via;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/**
 * The five readings, each after what must precede it:
 *
 * <pre>
 *  store ── direct
 *  store ── gateway (immutable, empty) ── (other objects) ── cold, http-hit, rdma-hit
 *  store ── gateway (strong, warmed)   ── rdma-hit-strong
 * </pre>
 *
 * <p> One client process reads on one thread. A row other than cold is measured after an unmeasured
 * warm-up over the same path, for at least three rounds over all data. Before cold, the gateway has
 * filled objects of another bucket, so that the row shows an empty cache and not a virtual machine
 * that has just started.
 */
final class Demo {
    private static final String BUCKET = "demo";
    private static final String WARM_UP_BUCKET = "warm-up";
    private static final int WARM_UP_BYTES = 16 << 20;
    private static final int ROUNDS = 3;
    private static final double SECONDS = 4;
    private static final double WARM_UP_SECONDS = 4;

    private final Via via;
    private final Children children;
    private final Path storeJar;
    private final Consumer<String> say;
    private final LocalStore.Keys keys = new LocalStore.Keys("DEMOACCESSKEY", "demo-secret-key");
    private final List<Row> rows = new ArrayList<>();

    /**
     * @param via LOOPBACK or VERBS: how hits are delivered one-sided
     */
    Demo(Via via, Children children, Path storeJar, Consumer<String> say) {
        this.via = via;
        this.children = children;
        this.storeJar = storeJar;
        this.say = say;
    }

    List<Row> run(DemoFiles data) throws IOException {
        say.accept("Starting an S3 store (s3proxy) and storing " + data.files().size()
                + " files, " + (data.bytes() >> 20) + " MiB ...");
        LocalStore store = LocalStore.start(storeJar, keys, data.bytes(), children);
        Manifest manifest = load(store, data);
        DemoClient client = DemoClient.start(manifest, keys, children);
        direct(client, store);
        try (DemoGateway gateway = gateway("immutable", store, data)) {
            warmUpFills(gateway);
            measure(Row.Path.COLD, client, gateway, reading(gateway, "http", 1, 0));
            hit(Row.Path.HTTP_HIT, client, gateway);
            hitOneSided(client, gateway);
        }
        if (via == Via.LOOPBACK) {
            try (DemoGateway gateway = gateway("strong", store, data)) {
                hit(Row.Path.RDMA_HIT_STRONG, client, gateway);
            }
        }
        return List.copyOf(rows);
    }

    private void hitOneSided(DemoClient client, DemoGateway gateway) throws IOException {
        if (via == Via.VERBS) {
            hit(Row.Path.NATIVE_HIT_VERBS, client, gateway);
        } else {
            hit(Row.Path.RDMA_HIT, client, gateway);
            hit(Row.Path.NATIVE_HIT, client, gateway);
        }
    }

    private Manifest load(LocalStore store, DemoFiles data) throws IOException {
        ClientConfig config = config(store.endpoint());
        List<Manifest.Entry> entries = new ArrayList<>();
        try (RailheadClient loader = RailheadClient.connect(config.withStreams(2))) {
            loader.createBucket(BUCKET);
            for (DemoFiles.DemoFile file : data.files()) {
                entries.add(Manifest.entry(file.key(), file.file()));
                loader.put(file.file(), new ObjectName(BUCKET, file.key()), Progress.NONE);
            }
        }
        return new Manifest(BUCKET, Manifest.PART_BYTES, entries);
    }

    private DemoGateway gateway(String freshness, LocalStore store, DemoFiles data)
            throws IOException {
        say.accept("Starting a gateway, freshness " + freshness + " ...");
        return DemoGateway.start(freshness, via, store, data.bytes(), children);
    }

    private void direct(DemoClient client, LocalStore store) throws IOException {
        say.accept("Reading: direct ...");
        String endpoint = store.endpoint().toString();
        client.read(new Reading(endpoint, "http", 1, WARM_UP_SECONDS));
        Measured measured = client.read(new Reading(endpoint, "http", ROUNDS, SECONDS));
        rows.add(Row.of(Row.Path.DIRECT, measured, 0, measured.requests()));
    }

    /** Each write makes the object cold again. */
    private void warmUpFills(DemoGateway gateway) throws IOException {
        ObjectName name = new ObjectName(WARM_UP_BUCKET, "object");
        Path file = Files.write(children.folder().resolve("warm-up"), new byte[WARM_UP_BYTES]);
        try (RailheadClient client = RailheadClient.connect(config(gateway.endpoint()))) {
            client.createBucket(WARM_UP_BUCKET);
            long end = System.nanoTime() + (long) (WARM_UP_SECONDS * 1e9);
            while (System.nanoTime() < end) {
                client.put(file, name, Progress.NONE);
                client.get(name, (offset, bytes) -> {}, Progress.NONE);
            }
        }
    }

    private ClientConfig config(URI endpoint) {
        return ClientConfig.of(endpoint, "us-east-1", StaticCredentialsProvider
                .create(AwsBasicCredentials.create(keys.accessKey(), keys.secretKey())));
    }

    private void hit(Row.Path path, DemoClient client, DemoGateway gateway) throws IOException {
        client.read(reading(gateway, path.via, 2, WARM_UP_SECONDS));
        measure(path, client, gateway, reading(gateway, path.via, ROUNDS, SECONDS));
    }

    private static Reading reading(DemoGateway gateway, String via, int rounds, double seconds) {
        return new Reading(gateway.endpoint().toString(), via, rounds, seconds);
    }

    private void measure(Row.Path path, DemoClient client, DemoGateway gateway, Reading reading)
            throws IOException {
        say.accept("Reading: " + path.label + " ...");
        long requestsBefore = gateway.backendRequests();
        double cpuBefore = gateway.cpu().seconds();
        Measured measured = client.read(reading);
        double cpu = gateway.cpu().seconds() - cpuBefore;
        rows.add(Row.of(path, measured, cpu, gateway.backendRequests() - requestsBefore));
    }
}
