package io.railhead.gateway.trust;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.LoopWatch;
import io.railhead.gateway.TestGateway;
import io.railhead.os.RequiresDirectFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Histories of two principals and of writers past the gateway, with a store that fails, against the
 * reference model: {@code docs/reliability.md}. {@code -Drailhead.model.operations=} says how many
 * operations, {@code -Drailhead.seed=} the first seed.
 */
class ModelIT {
    private static final long OPERATIONS = Long.getLong("railhead.model.operations", 10_000);
    private static final long SEED = Long.getLong("railhead.seed", 1);
    private static final int WORLDS_AT_ONCE = 3;
    /** One operation in so many is of a history whose store's bytes change on the way. */
    private static final int VERIFIED_SHARE = 5;
    /** At least one page goes to the disk, and one comes from it, in so many operations. */
    private static final int OPERATIONS_PER_PAGE = 500;
    /** Longer histories show no more, and take longer to replay. */
    private static final long LONGEST = 40_000;
    /**
     * What a JVM loads and compiles with its first requests keeps loops busy, and is not judged.
     */
    private static final long WARM_UP = 480;
    /** What a first world opens once for all: libraries, selectors, the JDK's own. */
    private static final int SPARE_DESCRIPTORS = 64;

    @ParameterizedTest
    @EnumSource
    void noClientEverHoldsWhatItWasNotPromised(Fills fills) throws Exception {
        run(fills, Storage.MEMORY);
    }

    /** A gateway that ends, or is killed, after each five hundred operations of a world. */
    @ParameterizedTest
    @EnumSource
    @RequiresDirectFiles
    void norOverADiskThatOutlivesTheGateway(Fills fills) throws Exception {
        run(fills, Storage.DISK);
    }

    private static void run(Fills fills, Storage storage) throws Exception {
        long operations = fills == Fills.VERIFIED ? OPERATIONS / VERIFIED_SHARE : OPERATIONS;
        try (ModelWorld first = new ModelWorld(SEED, fills, storage, gateway -> {})) {
            first.run(WARM_UP);
        }
        long descriptors = openDescriptors();
        try (LoopWatch loops = new LoopWatch();
                ExecutorService threads = Executors.newFixedThreadPool(WORLDS_AT_ONCE)) {
            List<Future<Long>> worlds = new ArrayList<>();
            long count = Math.max(WORLDS_AT_ONCE, Math.ceilDiv(operations, LONGEST));
            System.out.println(operations + " operations, " + count + " seeds from " + SEED
                    + ", fills " + fills + ", " + storage);
            for (long world = 0; world < count; world++) {
                long seed = SEED + world;
                worlds.add(threads.submit(
                        () -> run(loops, seed, fills, storage,
                                Math.ceilDiv(operations, count))));
            }
            long refuted = 0;
            for (Future<Long> world : worlds) {
                refuted += world.get();
            }
            assertThat(refuted > 0).as("%d objects were refuted", refuted)
                    .isEqualTo(fills == Fills.VERIFIED);
            assertThat(loops.blocked()).as("I5").isEmpty();
        }
        // The clients' own go with what forgot them.
        TestGateway.await(() -> {
            System.gc();
            return openDescriptors() <= descriptors + SPARE_DESCRIPTORS;
        });
    }

    private static long openDescriptors() {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return open.count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long run(LoopWatch loops, long seed, Fills fills, Storage storage,
            long operations) {
        try (ModelWorld world = new ModelWorld(seed, fills, storage,
                gateway -> loops.watch(gateway.eventLoops()))) {
            long begun = System.nanoTime();
            world.run(operations);
            System.out.println("seed " + seed + ": " + operations + " operations in "
                    + (System.nanoTime() - begun) / 1_000_000 + " ms, " + world.injected()
                    + " faults, " + world.refuted() + " objects refuted, "
                    + new TreeMap<>(world.counts()));
            if (storage == Storage.DISK) {
                System.out.println("seed " + seed + ": " + world.writtenToDisk()
                        + " pages written to disk, " + world.readFromDisk() + " read");
                // A history that never comes to the disk shows nothing of it.
                assertThat(world.writtenToDisk()).as("pages written to disk")
                        .isGreaterThan(operations / OPERATIONS_PER_PAGE);
                assertThat(world.readFromDisk()).as("pages read from disk")
                        .isGreaterThan(operations / OPERATIONS_PER_PAGE);
            }
            return world.refuted();
        }
    }
}
