package io.railhead.cli.bench;

import java.io.IOException;

/** Turns that do not count: what compiles itself as it runs becomes cheaper for a while. */
final class WarmUp {
    private static final int MOST_SPANS = 8;
    private static final double STILL_FALLING = 0.9;

    private WarmUp() {}

    /** One turn of something. */
    @FunctionalInterface
    interface Work {
        RunResult turn() throws IOException;
    }

    /**
     * Repeats it until the server's cost for each byte has stopped to fall from one span to the
     * next, eight spans at most.
     *
     * @param spanSeconds of a span, a turn at least: one short turn tells more of the processor's
     *            ticks and of what is being compiled than of the work
     * @param compilesItself else once is enough
     */
    static void until(Work work, double spanSeconds, boolean compilesItself) throws IOException {
        if (!compilesItself) {
            work.turn();
            return;
        }
        double cheapest = Double.MAX_VALUE;
        for (int span = 0; span < MOST_SPANS; span++) {
            double cost = spanCost(work, spanSeconds);
            if (cost >= STILL_FALLING * cheapest) {
                return;
            }
            cheapest = cost;
        }
    }

    private static double spanCost(Work work, double spanSeconds) throws IOException {
        double seconds = 0;
        double cpu = 0;
        long bytes = 0;
        RunResult runResult;
        do {
            runResult = work.turn();
            seconds += runResult.seconds();
            cpu += runResult.serverCpu();
            bytes += runResult.bytes();
        } while (seconds < spanSeconds && runResult.problem().isEmpty());
        return cpu / Math.max(1, bytes);
    }
}
