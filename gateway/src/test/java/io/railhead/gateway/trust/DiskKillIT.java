package io.railhead.gateway.trust;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.GatewayProcess;
import io.railhead.gateway.RandomBytes;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.os.RequiresDirectFiles;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A whole gateway that is killed by SIGKILL under load again and again: no answer is wrong, and
 * each page of a segment that was sealed is found and read again. {@code -Drailhead.kills=} says
 * how often in all, half of them with encryption.
 */
@RequiresDirectFiles
class DiskKillIT {
    private static final int KILLS = Integer.getInteger("railhead.kills", 2);
    private static final long SEED = Long.getLong("railhead.seed", 1);
    private static final int READERS = 4;
    private static final int OBJECTS = 200;
    private static final int OBJECT_BYTES = (1 << 20) - 777;
    /** The most objects that are read between a start and the kill. */
    private static final int LONGEST_LIFE = 500;

    @TempDir
    private Path folder;

    private final FakeStore store = new FakeStore();

    @BeforeEach
    void start() {
        for (int i = 0; i < OBJECTS; i++) {
            store.put(path(i), bytes(i));
        }
    }

    @AfterEach
    void close() {
        store.close();
    }

    private static String path(int number) {
        return "/b/object-" + number;
    }

    private static byte[] bytes(int number) {
        return RandomBytes.random(number, OBJECT_BYTES);
    }

    private Path disk() {
        return folder.resolve("disk");
    }

    /** Makes a disk with room for all objects, and for the segment that each kill loses. */
    private Path config(boolean encrypted) throws Exception {
        Files.writeString(folder.resolve("credentials.yaml"), TestGateway.TRAINER);
        Path key = Files.writeString(folder.resolve("disk.key"), "11".repeat(32));
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
        return Files.writeString(folder.resolve("railhead.yaml"), """
                gateway: {listen: "127.0.0.1:0", health: "127.0.0.1:0",
                  credentials: credentials.yaml}
                cache: {memory: 64MiB, page: 64KiB, window: 2MiB, run: 1MiB,
                  disk: {paths: ["%s"], size: 600MiB, writes_per_day: 0%s}}
                backends: {store: {endpoints: ["%s"]}}
                """.formatted(disk(), encrypted ? ", encrypt: tenant, key_file: disk.key" : "",
                store.endpoint()));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void nothingIsWrongAndNoSealedPageIsLost(boolean encrypted) throws Exception {
        Path config = config(encrypted);
        Random random = new Random(SEED);
        System.out.println(KILLS / 2 + " kills, seed " + SEED + ", encrypted: " + encrypted);
        int sealed = 0;
        for (int kill = 0; kill < Math.max(1, KILLS / 2); kill++) {
            try (GatewayProcess gateway = GatewayProcess.start(config, "-Xmx512m")) {
                awaitKnown(gateway);
                readUntilKilled(gateway, 50 + random.nextInt(LONGEST_LIFE), random.nextLong());
            }
            Footers found = Footers.read(disk());
            assertThat(found.pages()).as("no sealed segment is lost")
                    .isGreaterThanOrEqualTo(sealed);
            sealed = found.pages();
        }
        assertThat(sealed).as("pages in sealed segments").isPositive();
        try (GatewayProcess gateway = GatewayProcess.start(config, "-Xmx512m")) {
            awaitKnown(gateway);
            requireAllHit(gateway, Footers.read(disk()), encrypted);
        }
    }

    private static void awaitKnown(GatewayProcess gateway) {
        TestGateway.await(gateway::isReady);
        TestGateway.await(() -> gateway.metric(
                "railhead_disk_volumes{state=\"recovering\",}") == 0);
        assertThat(gateway.metric("railhead_disk_volumes{state=\"working\",}")).isEqualTo(1);
    }

    /** Reads random objects by several clients, and kills the gateway after so many answers. */
    private static void readUntilKilled(GatewayProcess gateway, int answers, long seed)
            throws InterruptedException {
        AtomicInteger left = new AtomicInteger(answers);
        AtomicBoolean killed = new AtomicBoolean();
        List<Throwable> wrong = new ArrayList<>();
        List<Thread> readers = new ArrayList<>();
        for (int i = 0; i < READERS; i++) {
            Random random = new Random(seed + i);
            TestClient client = new TestClient(gateway.endpoint(), "AK", "SK");
            readers.add(Thread.ofPlatform().start(() -> {
                try {
                    while (!killed.get()) {
                        int number = random.nextInt(OBJECTS);
                        requireRight(client.get(path(number)), number);
                        if (left.decrementAndGet() == 0) {
                            killed.set(true);
                            gateway.kill();
                        }
                    }
                } catch (RuntimeException | Error | InterruptedException e) {
                    // A cut connection is the kill's doing; a wrong answer is nobody's.
                    if (e instanceof AssertionError || !killed.get()) {
                        synchronized (wrong) {
                            wrong.add(e);
                        }
                        killed.set(true);
                    }
                }
            }));
        }
        for (Thread reader : readers) {
            reader.join();
        }
        assertThat(wrong).isEmpty();
    }

    private static void requireRight(HttpResponse<byte[]> answer, int number) {
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).as("object " + number).isEqualTo(bytes(number));
    }

    private static void requireAllHit(GatewayProcess gateway, Footers sealed,
            boolean encrypted) {
        double held = gateway.metric("railhead_disk_cached_pages");
        if (encrypted) {
            // A page that was read again while it waited may be listed twice.
            assertThat(held).isBetween(0.9 * sealed.pages(), (double) sealed.pages());
        } else {
            assertThat(held).isEqualTo(sealed.identities());
        }
        TestClient client = new TestClient(gateway.endpoint(), "AK", "SK");
        for (int i = 0; i < OBJECTS; i++) {
            requireRight(client.get(path(i)), i);
        }
        assertThat(gateway.metric("railhead_disk_pages_total{result=\"corrupt\",}")).isZero();
        assertThat(gateway.metric("railhead_disk_pages_total{result=\"read\",}"))
                .as("pages read of those that were sealed")
                .isGreaterThanOrEqualTo(held);
    }
}
