package io.railhead.gateway.trust;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/**
 * Histories of three gateways of one cluster, whose network fails and whose members end, against
 * the reference model: {@code docs/reliability.md}. {@code -Drailhead.model.operations=} says how
 * many operations, {@code -Drailhead.seed=} the first seed.
 */
class ClusterModelIT {
    private static final long ALL_OPERATIONS = Long.getLong("railhead.model.operations", 10_000);
    private static final long SEED = Long.getLong("railhead.seed", 1);
    /** Each write waits for a member that is silent: one operation for so many of the model's. */
    private static final int SHARE = 5;
    /** An hour is enough for a night. */
    private static final long MOST = 20_000;
    private static final int WORLDS_AT_ONCE = 3;
    /** Longer histories show no more, and take longer to replay. */
    private static final long LONGEST = 10_000;
    private static final long WARM_UP = 96;

    @Test
    void gatewaysOfOneClusterPromiseWhatOneDoes() throws Exception {
        long operations = Math.min(MOST, ALL_OPERATIONS / SHARE);
        try (ClusterWorld first = new ClusterWorld(SEED)) {
            first.run(WARM_UP);
        }
        try (ExecutorService threads = Executors.newFixedThreadPool(WORLDS_AT_ONCE)) {
            List<Future<?>> worlds = new ArrayList<>();
            long count = Math.max(WORLDS_AT_ONCE, Math.ceilDiv(operations, LONGEST));
            System.out.println(operations + " operations of three gateways, " + count
                    + " seeds from " + SEED);
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
        try (ClusterWorld world = new ClusterWorld(seed)) {
            long begun = System.nanoTime();
            world.run(operations);
            System.out.println("seed " + seed + ": " + operations + " operations in "
                    + (System.nanoTime() - begun) / 1_000_000 + " ms, " + world.lost()
                    + " messages lost, "
                    + world.metric("railhead_cluster_unheard_total") + " changes unheard, "
                    + world.metric("railhead_cluster_peer_fills_total{result=\"filled\",}")
                    + " fills of owners, "
                    + world.metric("railhead_cluster_peer_fills_total{result=\"handed_over\",}")
                    + " of owners of before, " + world.counts());
        }
    }
}
