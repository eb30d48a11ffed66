package io.railhead.gateway.trust;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.os.RequiresDirectFiles;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/**
 * Histories of uploads that are acknowledged at the gateway's disk, with a store that fails, or is
 * down, and gateways that end, against the reference model: {@code docs/reliability.md}. {@code
 * -Drailhead.model.operations=} says how many operations, {@code -Drailhead.seed=} the first seed.
 */
@RequiresDirectFiles
class WriteBackModelIT {
    private static final long ALL_OPERATIONS = Long.getLong("railhead.model.operations", 10_000);
    private static final long SEED = Long.getLong("railhead.seed", 1);
    /** Each step waits for a store that is down: one operation for so many of the model's. */
    private static final int SHARE = 4;
    /** An hour is enough for a night. */
    private static final long MOST = 20_000;
    private static final int WORLDS_AT_ONCE = 2;
    /** Longer histories show no more, and take longer to replay. */
    private static final long LONGEST = 10_000;
    /** A history that acknowledges less at the disk, or reads less of it, shows nothing. */
    private static final int OPERATIONS_PER_ACKNOWLEDGEMENT = 20;
    private static final int OPERATIONS_PER_READ = 250;
    private static final long WARM_UP = 96;

    @Test
    void whatIsAcknowledgedAtTheDiskIsNeverLostOrOvertaken() throws Exception {
        long operations = Math.min(MOST, ALL_OPERATIONS / SHARE);
        try (WriteBackWorld first = new WriteBackWorld(SEED)) {
            first.run(WARM_UP);
        }
        try (ExecutorService threads = Executors.newFixedThreadPool(WORLDS_AT_ONCE)) {
            List<Future<?>> worlds = new ArrayList<>();
            long count = Math.max(WORLDS_AT_ONCE, Math.ceilDiv(operations, LONGEST));
            System.out.println(operations + " operations before a log, " + count + " seeds from "
                    + SEED);
            for (long world = 0; world < count; world++) {
                long seed = SEED + world;
                worlds.add(threads.submit(() -> run(seed, Math.ceilDiv(operations, count))));
            }
            for (Future<?> world : worlds) {
                world.get();
            }
        }
    }

    private static void run(long seed, long operations) {
        try (WriteBackWorld world = new WriteBackWorld(seed)) {
            long begun = System.nanoTime();
            world.run(operations);
            System.out.println("seed " + seed + ": " + operations + " operations in "
                    + (System.nanoTime() - begun) / 1_000_000 + " ms, " + world.judge().atDisk()
                    + " acknowledged at the disk, " + world.judge().readsOfPending()
                    + " read before the store had them, " + world.counts());
            assertThat(world.judge().atDisk()).as("acknowledged at the disk")
                    .isGreaterThan(operations / OPERATIONS_PER_ACKNOWLEDGEMENT);
            assertThat(world.judge().readsOfPending()).as("read while pending")
                    .isGreaterThan(operations / OPERATIONS_PER_READ);
        }
    }
}
