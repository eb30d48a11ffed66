package io.railhead.benchmarks.channel;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** The figures of one system: medians of its rounds. */
final class Figures {
    private final String name;
    private final List<Double> p50Micros = new ArrayList<>();
    private final List<Double> p99Micros = new ArrayList<>();
    private final List<Double> perSecond = new ArrayList<>();

    Figures(String name) {
        this.name = name;
    }

    void latencies(long[] nanos, int count) {
        Arrays.sort(nanos, 0, count);
        p50Micros.add(nanos[count / 2] / 1e3);
        p99Micros.add(nanos[(int) (count * 99L / 100)] / 1e3);
    }

    void rate(long hits, long nanos) {
        perSecond.add(hits * 1e9 / nanos);
    }

    void forget() {
        p50Micros.clear();
        p99Micros.clear();
        perSecond.clear();
    }

    double p50Micros() {
        return median(p50Micros);
    }

    double p99Micros() {
        return median(p99Micros);
    }

    double perSecond() {
        return median(perSecond);
    }

    private static double median(List<Double> values) {
        return values.stream().sorted().toList().get(values.size() / 2);
    }

    String line() {
        return String.format(Locale.ROOT, "%-10s %10.1f %10.1f %14.0f", name, p50Micros(),
                p99Micros(), perSecond());
    }

    String json() {
        return String.format(Locale.ROOT,
                "\"%s\": {\"p50_us\": %.1f, \"p99_us\": %.1f, \"hits_per_second\": %.0f}", name,
                p50Micros(), p99Micros(), perSecond());
    }
}
