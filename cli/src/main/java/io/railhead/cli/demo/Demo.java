package io.railhead.cli.demo;

import io.railhead.cli.local.Children;
import io.railhead.cli.local.LocalStore;
import io.railhead.cli.reading.Manifest;
import io.railhead.cli.reading.MinimumDurations;
import io.railhead.cli.reading.Origin;
import io.railhead.cli.reading.OwnGateway;
import io.railhead.cli.reading.ReadingRow;
import io.railhead.cli.reading.Readings;
import io.railhead.cli.reading.SourceFile;
import io.railhead.client.Via;
import io.railhead.os.DirectFile;
import io.railhead.os.OsException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;

/**
 * A store with files in it, and the readings, each after what must precede it:
 *
 * <pre>
 *  store ── direct
 *  store ── gateway (immutable, empty)  ── just-started
 *  store ── gateway (the same, emptied) ── cold, http-hit, rdma-hit, native-hit
 *  store ── gateway (a fifth of the memory, over a disk) ── disk-hit
 *  store ── gateway (strong, warmed)    ── rdma-hit-strong
 * </pre>
 */
final class Demo {
    private static final String BUCKET = "demo";
    private static final long WARM_UP_BYTES = 32L << 20;
    private static final int WARM_UP_OBJECTS = 32;

    private final Via via;
    private final Children children;
    private final Path storeJar;
    private final Consumer<String> say;
    private final LocalStore.Keys keys = new LocalStore.Keys("DEMOACCESSKEY", "demo-secret-key");

    /** @param via LOOPBACK or VERBS, for one-sided hits */
    Demo(Via via, Children children, Path storeJar, Consumer<String> say) {
        this.via = via;
        this.children = children;
        this.storeJar = storeJar;
        this.say = say;
    }

    List<ReadingRow> run(DemoFiles data) throws IOException {
        say.accept("Starting an S3 store (s3proxy) and storing " + data.files().size()
                + " files, " + (data.bytes() >> 20) + " MiB ...");
        LocalStore store = LocalStore.start(storeJar, keys, data.bytes() + WARM_UP_BYTES,
                children);
        Origin origin = Origin.filled(store, BUCKET, data.files());
        Readings readings = Readings.start(origin, via, MinimumDurations.STANDARD, children, say);
        readings.direct();
        try (OwnGateway gateway = readings.gateway("immutable")) {
            readings.justStarted(gateway);
            readings.cold(gateway, others(origin));
            readings.hits(gateway);
        }
        if (hasDirectFiles()) {
            try (OwnGateway gateway = readings.gatewayOverDisk()) {
                readings.diskHits(gateway);
            }
        }
        if (via == Via.LOOPBACK) {
            try (OwnGateway gateway = readings.gateway("strong")) {
                readings.hit(ReadingRow.Path.RDMA_HIT_STRONG, gateway);
            }
        }
        return readings.rows();
    }

    /** Returns whether the temporary folder can have a file of the disk tier; says if not. */
    private boolean hasDirectFiles() throws IOException {
        Path trial = children.folder().resolve("trial");
        try {
            DirectFile.open(trial.toString(), DirectFile.BLOCK_BYTES).close();
            return true;
        } catch (OsException e) {
            say.accept("No row disk-hit: " + children.folder() + ": " + e.getMessage());
            return false;
        } finally {
            boolean _ = Files.deleteIfExists(trial);
        }
    }

    /** Writes objects that no row reads, for a gateway's warm-up. */
    private Manifest others(Origin origin) throws IOException {
        List<SourceFile> files = new ArrayList<>();
        byte[] content = new byte[(int) (WARM_UP_BYTES / WARM_UP_OBJECTS)];
        Random random = new Random(1);
        for (int i = 0; i < WARM_UP_OBJECTS; i++) {
            random.nextBytes(content);
            Path file = Files.write(children.folder().resolve("other-" + i), content);
            files.add(new SourceFile("others/" + i, file));
        }
        return origin.add(files);
    }
}
