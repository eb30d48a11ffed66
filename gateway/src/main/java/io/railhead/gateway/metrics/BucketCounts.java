package io.railhead.gateway.metrics;

import io.prometheus.client.Collector;
import io.prometheus.client.CounterMetricFamily;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Requests and delivered bytes by bucket. Clients name buckets, so their number is bounded: the
 * first ones with a successful read or write are counted separately, all others together. Failures
 * take no place, so a client that guesses names displaces nobody.
 *
 * <p> Any thread. Counting a known bucket takes no lock and allocates nothing.
 */
public final class BucketCounts extends Collector {
    /** The name for all other buckets, which no bucket can have. */
    public static final String OTHER = "__other__";

    private static final List<String> BUCKET = List.of("bucket");

    private final int limit;
    private final Map<String, Counts> byName = new ConcurrentHashMap<>();
    private final Counts other = new Counts();
    private volatile boolean full;

    private static final class Counts {
        private final LongAdder requests = new LongAdder();
        private final LongAdder bytes = new LongAdder();
    }

    /** One bucket's counts since the start. */
    public record Total(String bucket, long requests, long bytes) {}

    public BucketCounts(int limit) {
        this.limit = limit;
    }

    /** Counts a successful request. */
    public void succeeded(String bucket) {
        admit(bucket).requests.increment();
    }

    /** Counts a failed request. */
    public void failed(String bucket) {
        byName.getOrDefault(bucket, other).requests.increment();
    }

    /** Counts delivered object bytes. */
    public void delivered(String bucket, long bytes) {
        admit(bucket).bytes.add(bytes);
    }

    private Counts admit(String bucket) {
        Counts known = byName.get(bucket);
        if (known != null) {
            return known;
        }
        return full || bucket.equals(OTHER) ? other : meet(bucket);
    }

    private synchronized Counts meet(String bucket) {
        if (byName.size() >= limit) {
            full = true;
            return byName.getOrDefault(bucket, other);
        }
        return byName.computeIfAbsent(bucket, _ -> new Counts());
    }

    /**
     * Returns the counts by most bytes, then most requests; the other buckets last, if there are
     * any.
     */
    public List<Total> totals() {
        List<Total> totals = new ArrayList<>(byName.size() + 1);
        byName.forEach((bucket, counts) -> totals.add(total(bucket, counts)));
        totals.sort(Comparator.comparingLong(Total::bytes)
                .thenComparingLong(Total::requests)
                .reversed()
                .thenComparing(Total::bucket));
        Total rest = total(OTHER, other);
        if (rest.requests() > 0 || rest.bytes() > 0) {
            totals.add(rest);
        }
        return totals;
    }

    private static Total total(String bucket, Counts counts) {
        return new Total(bucket, counts.requests.sum(), counts.bytes.sum());
    }

    @Override
    public List<MetricFamilySamples> collect() {
        CounterMetricFamily requests = new CounterMetricFamily("railhead_bucket_requests",
                "Requests answered, by bucket.", BUCKET);
        CounterMetricFamily bytes = new CounterMetricFamily("railhead_bucket_bytes",
                "Object bytes delivered, by bucket.", BUCKET);
        for (Total total : totals()) {
            requests.addMetric(List.of(total.bucket()), (double) total.requests());
            bytes.addMetric(List.of(total.bucket()), (double) total.bytes());
        }
        return List.of(requests, bytes);
    }
}
