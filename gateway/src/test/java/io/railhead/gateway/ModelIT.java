package io.railhead.gateway;

import static org.assertj.core.api.Assertions.assertThat;

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
import org.junit.jupiter.api.Test;

/**
 * Histories of two principals and of writers past the gateway, with a store that fails, against the
 * reference model: {@code docs/reliability.md}. {@code -Drailhead.model.operations=} says how many
 * operations, {@code -Drailhead.seed=} the first seed.
 */
class ModelIT {
    private static final long OPERATIONS = Long.getLong("railhead.model.operations", 10_000);
    private static final long SEED = Long.getLong("railhead.seed", 1);
    private static final int WORLDS_AT_ONCE = 3;
    /** Longer histories show no more, and take longer to replay. */
    private static final long LONGEST = 40_000;
    /**
     * What a JVM loads and compiles with its first requests keeps loops busy, and is not judged.
     */
    private static final long WARM_UP = 480;
    /** What a first world opens once for all: libraries, selectors, the JDK's own. */
    private static final int SPARE_DESCRIPTORS = 64;

    @Test
    void noClientEverHoldsWhatItWasNotPromised() throws Exception {
        try (ModelWorld first = new ModelWorld(SEED)) {
            first.run(WARM_UP);
        }
        long descriptors = openDescriptors();
        try (LoopWatch loops = new LoopWatch();
                ExecutorService threads = Executors.newFixedThreadPool(WORLDS_AT_ONCE)) {
            List<Future<?>> worlds = new ArrayList<>();
            long count = Math.max(WORLDS_AT_ONCE, Math.ceilDiv(OPERATIONS, LONGEST));
            System.out.println(OPERATIONS + " operations, " + count + " seeds from " + SEED);
            for (long world = 0; world < count; world++) {
                long seed = SEED + world;
                worlds.add(threads.submit(
                        () -> run(loops, seed, Math.ceilDiv(OPERATIONS, count))));
            }
            for (Future<?> world : worlds) {
                world.get();
            }
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

    private static void run(LoopWatch loops, long seed, long operations) {
        try (ModelWorld world = new ModelWorld(seed)) {
            loops.watch(world.gateway().eventLoops());
            long begun = System.nanoTime();
            world.run(operations);
            System.out.println("seed " + seed + ": " + operations + " operations in "
                    + (System.nanoTime() - begun) / 1_000_000 + " ms, " + world.injected()
                    + " faults, " + new TreeMap<>(world.counts()));
        }
    }
}
