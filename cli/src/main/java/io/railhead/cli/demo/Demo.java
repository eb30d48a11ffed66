package io.railhead.cli.demo;

import io.railhead.cli.local.Children;
import io.railhead.cli.local.LocalStore;
import io.railhead.cli.reading.Manifest;
import io.railhead.cli.reading.Minima;
import io.railhead.cli.reading.Origin;
import io.railhead.cli.reading.OwnGateway;
import io.railhead.cli.reading.Readings;
import io.railhead.cli.reading.Row;
import io.railhead.client.ClientConfig;
import io.railhead.client.ObjectName;
import io.railhead.client.Progress;
import io.railhead.client.RailheadClient;
import io.railhead.client.Via;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/**
 * A store with files in it, and the readings, each after what must precede it:
 *
 * <pre>
 *  store ── direct
 *  store ── gateway (immutable, empty)  ── cold, http-hit, rdma-hit, native-hit
 *  store ── gateway (strong, warmed)    ── rdma-hit-strong
 * </pre>
 */
final class Demo {
    private static final String BUCKET = "demo";
    private static final String REGION = "us-east-1";

    private final Via via;
    private final Children children;
    private final Path storeJar;
    private final Consumer<String> say;
    private final LocalStore.Keys keys = new LocalStore.Keys("DEMOACCESSKEY", "demo-secret-key");

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
        Readings readings = Readings.start(load(store, data), via, Minima.STANDARD, children, say);
        readings.direct();
        try (OwnGateway gateway = readings.gateway("immutable")) {
            readings.cold(gateway);
            readings.hits(gateway);
        }
        if (via == Via.LOOPBACK) {
            try (OwnGateway gateway = readings.gateway("strong")) {
                readings.hit(Row.Path.RDMA_HIT_STRONG, gateway);
            }
        }
        return readings.rows();
    }

    private Origin load(LocalStore store, DemoFiles data) throws IOException {
        AwsBasicCredentials credentials = AwsBasicCredentials.create(keys.accessKey(),
                keys.secretKey());
        ClientConfig config = ClientConfig.of(store.endpoint(), REGION,
                StaticCredentialsProvider.create(credentials));
        List<Manifest.Entry> entries = new ArrayList<>();
        try (RailheadClient loader = RailheadClient.connect(config.withStreams(2))) {
            loader.createBucket(BUCKET);
            for (DemoFiles.DemoFile file : data.files()) {
                entries.add(Manifest.entry(file.key(), file.file()));
                loader.put(file.file(), new ObjectName(BUCKET, file.key()), Progress.NONE);
            }
        }
        return new Origin(store.endpoint(), REGION, credentials, new Manifest(BUCKET, entries));
    }
}
