package io.railhead.stress;

import org.jetbrains.lincheck.datastructures.StressOptions;

/**
 * Lincheck's stress mode: threads as they really run, and every outcome held against the sequential
 * one. For what the model checker is too slow for: a schedule takes it a tenth of a second where
 * Caffeine and its memory take part. {@code -Drailhead.scenarios=} says how many.
 */
public final class Trials {
    private static final int SCENARIOS = Integer.getInteger("railhead.scenarios", 8);
    private static final int RUNS_OF_EACH = 300;

    private Trials() {}

    /** @param sequential what its operations do one after the other */
    public static void hold(Class<?> operations, Class<?> sequential) {
        new StressOptions().iterations(SCENARIOS)
                .invocationsPerIteration(RUNS_OF_EACH)
                .threads(3)
                .actorsPerThread(3)
                .actorsBefore(2)
                .actorsAfter(2)
                .sequentialSpecification(sequential)
                .check(operations);
    }
}
