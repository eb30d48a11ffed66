package io.railhead.gateway.status;

import io.prometheus.client.Collector;
import io.prometheus.client.Counter;
import io.prometheus.client.Histogram;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** Reads the series of metrics. */
final class Series {
    private Series() {}

    /** Returns a counter's values by label values. */
    static Map<List<String>, Long> of(Counter counter) {
        Map<List<String>, Long> values = new HashMap<>();
        for (Collector.MetricFamilySamples.Sample sample : samples(counter, "_total")) {
            values.put(sample.labelValues, (long) sample.value);
        }
        return values;
    }

    static long sum(Map<List<String>, Long> values, Predicate<List<String>> which) {
        return values.entrySet()
                .stream()
                .filter(value -> which.test(value.getKey()))
                .mapToLong(Map.Entry::getValue)
                .sum();
    }

    /** Returns the cumulative buckets of a histogram with one label, by its value. */
    static Map<String, List<Bucket>> of(Histogram histogram) {
        Map<String, List<Bucket>> values = new HashMap<>();
        for (Collector.MetricFamilySamples.Sample sample : samples(histogram, "_bucket")) {
            values.computeIfAbsent(sample.labelValues.getFirst(), _ -> new ArrayList<>())
                    .add(new Bucket(bound(sample.labelValues.getLast()), (long) sample.value));
        }
        return values;
    }

    private static double bound(String le) {
        return le.equals("+Inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(le);
    }

    private static List<Collector.MetricFamilySamples.Sample> samples(Collector metric,
            String suffix) {
        return metric.collect()
                .stream()
                .flatMap(family -> family.samples.stream())
                .filter(sample -> sample.name.endsWith(suffix))
                .toList();
    }

    /**
     * The number of events up to a duration.
     *
     * @param bound in seconds
     */
    record Bucket(double bound, long count) {}
}
