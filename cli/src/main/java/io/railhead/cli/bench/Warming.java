package io.railhead.cli.bench;

import java.io.IOException;

/** Turns that do not count: what compiles itself as it runs becomes cheaper for a while. */
final class Warming {
    private static final int MOST_TURNS = 8;
    private static final double STILL_FALLING = 0.9;

    private Warming() {}

    /** One turn of something. */
    @FunctionalInterface
    interface Work {
        Measured turn() throws IOException;
    }

    /**
     * Repeats it until the server's cost for each byte has stopped to fall.
     *
     * @param compilesItself else once is enough
     */
    static void until(Work work, boolean compilesItself) throws IOException {
        double cheapest = Double.MAX_VALUE;
        boolean isFalling = true;
        for (int turn = 0; turn < MOST_TURNS && isFalling; turn++) {
            Measured measured = work.turn();
            double cost = measured.serverCpu() / Math.max(1, measured.bytes());
            isFalling = compilesItself && cost < STILL_FALLING * cheapest;
            cheapest = Math.min(cheapest, cost);
        }
    }
}
