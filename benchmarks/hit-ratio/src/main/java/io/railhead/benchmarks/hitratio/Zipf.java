package io.railhead.benchmarks.hitratio;

import java.util.Arrays;
import java.util.Random;

/** Ranks from 0 up, the n-th with a weight of 1 / n^exponent. Immutable. */
final class Zipf {
    private final double[] cumulative;

    Zipf(int ranks, double exponent) {
        cumulative = new double[ranks];
        double sum = 0;
        for (int i = 0; i < ranks; i++) {
            sum += 1 / Math.pow(i + 1, exponent);
            cumulative[i] = sum;
        }
    }

    int next(Random random) {
        double at = random.nextDouble() * cumulative[cumulative.length - 1];
        int found = Arrays.binarySearch(cumulative, at);
        return Math.min(cumulative.length - 1, found < 0 ? -found - 1 : found);
    }
}
