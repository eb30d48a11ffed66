package io.railhead.cli.bench;

import java.util.Collection;
import java.util.List;

/** A figure over its rounds. */
record Spread(double least, double median, double most) {

    static Spread of(Collection<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        int middle = sorted.size() / 2;
        double median = sorted.size() % 2 == 1
                ? sorted.get(middle)
                : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
        return new Spread(sorted.getFirst(), median, sorted.getLast());
    }

    /** From least to most, as a share of the median. */
    double relative() {
        return median == 0 ? 0 : (most - least) / median;
    }
}
