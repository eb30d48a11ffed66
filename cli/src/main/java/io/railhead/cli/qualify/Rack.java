package io.railhead.cli.qualify;

import io.railhead.cli.local.Children;
import io.railhead.cli.local.LocalStore;
import io.railhead.cli.reading.MinimumDurations;
import io.railhead.cli.reading.Origin;
import io.railhead.cli.reading.OwnGateway;
import io.railhead.cli.reading.Readings;
import io.railhead.cli.reading.SourceFile;
import io.railhead.client.Via;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;

/** A store with generated objects, and a gateway in front of it. One thread. */
final class Rack {
    static final String BUCKET = "qualify";
    /**
     * Sizes at and next to those of pages, parts and messages; the last file gets the remaining
     * bytes.
     */
    private static final int[] SIZES = {1, 4095, 4096, 64 << 10, (1 << 20) + 1, 8 << 20};
    private static final LocalStore.Keys KEYS = new LocalStore.Keys("QUALIFYACCESSKEY",
            "qualify-secret-key");

    private final Readings readings;
    private final OwnGateway gateway;
    private final Origin origin;
    private final List<SourceFile> files;

    private Rack(Readings readings, OwnGateway gateway, Origin origin, List<SourceFile> files) {
        this.readings = readings;
        this.gateway = gateway;
        this.origin = origin;
        this.files = files;
    }

    /** Starts the rack; its processes end with {@code children}. */
    static Rack start(Path storeJar, long bytes, Via via, MinimumDurations minimumDurations,
            Children children,
            Consumer<String> say) throws IOException {
        List<SourceFile> files = generate(bytes, children.folder());
        LocalStore store = LocalStore.start(storeJar, KEYS, 2 * bytes, children);
        Origin origin = Origin.filled(store, BUCKET, files);
        Readings readings = Readings.start(origin, via, minimumDurations, children, say);
        return new Rack(readings, readings.gateway("immutable"), origin, files);
    }

    private static List<SourceFile> generate(long bytes, Path folder) throws IOException {
        List<SourceFile> files = new ArrayList<>();
        Random random = new Random(20261126);
        long left = bytes;
        for (int i = 0; left > 0; i++) {
            int size = i < SIZES.length
                    ? (int) Math.min(SIZES[i], left)
                    : (int) Math.min(16 << 20, left);
            byte[] content = new byte[size];
            random.nextBytes(content);
            files.add(new SourceFile("object-" + i,
                    Files.write(folder.resolve("object-" + i), content)));
            left -= size;
        }
        return files;
    }

    Readings readings() {
        return readings;
    }

    OwnGateway gateway() {
        return gateway;
    }

    Origin origin() {
        return origin;
    }

    /** Returns files with the same contents, to be written as new objects. */
    List<SourceFile> toWrite() {
        return files.stream()
                .map(file -> new SourceFile("written-" + file.key(), file.file()))
                .toList();
    }
}
