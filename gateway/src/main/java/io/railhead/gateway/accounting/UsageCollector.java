package io.railhead.gateway.accounting;

import io.prometheus.client.Collector;
import io.prometheus.client.CounterMetricFamily;
import io.prometheus.client.GaugeMetricFamily;
import io.railhead.gateway.config.Prices;
import java.util.List;

/** Collects the usage of tenants at each scrape. */
public final class UsageCollector extends Collector {
    private static final List<String> ROW = List.of("tenant", "bucket");
    private static final List<String> KINDS = List.of("tenant", "bucket", "kind");

    private final UsageTable table;

    /** Collects the rows of a table. */
    public UsageCollector(UsageTable table) {
        this.table = table;
    }

    @Override
    public List<MetricFamilySamples> collect() {
        CounterMetricFamily requests = new CounterMetricFamily("railhead_usage_requests",
                "Clients' requests that ended well, by tenant and bucket.", KINDS);
        CounterMetricFamily seconds = new CounterMetricFamily("railhead_usage_seconds",
                "Time that they took, from the head to the last byte.", ROW);
        CounterMetricFamily hits = new CounterMetricFamily("railhead_usage_hits",
                "Reads that needed no byte of the store, by tenant and bucket.", ROW);
        CounterMetricFamily misses = new CounterMetricFamily("railhead_usage_misses",
                "Reads that the cache served with bytes of the store, by tenant and bucket.", ROW);
        CounterMetricFamily bytes = new CounterMetricFamily("railhead_usage_bytes",
                "Bytes that clients got, by tenant and bucket.", ROW);
        CounterMetricFamily storeRequests = new CounterMetricFamily(
                "railhead_usage_store_requests",
                "Requests sent to stores for a tenant and bucket, without retries.", KINDS);
        CounterMetricFamily storeBytes = new CounterMetricFamily("railhead_usage_store_bytes",
                "Bytes that came from stores for a tenant and bucket.", ROW);
        GaugeMetricFamily saved = new GaugeMetricFamily("railhead_usage_saved_cost",
                "Money that stores did not cost, by the price list of accounting.prices.",
                List.of("currency"));
        UsageCounts total = UsageCounts.NONE;
        for (UsageTable.Row row : table.rows()) {
            List<String> names = List.of(row.tenant(), row.bucket());
            UsageCounts counts = row.counts();
            addKinds(requests, row, counts.reads(), counts.writes());
            seconds.addMetric(names, counts.nanos() / 1e9);
            hits.addMetric(names, (double) counts.hits());
            misses.addMetric(names, (double) counts.misses());
            bytes.addMetric(names, (double) counts.servedBytes());
            addKinds(storeRequests, row, counts.storeReads(), counts.storeWrites());
            storeBytes.addMetric(names, (double) counts.storeBytes());
            total = total.plus(counts);
        }
        Prices prices = table.prices();
        if (prices != null) {
            saved.addMetric(List.of(prices.currency()), total.saved(prices));
        }
        return List.of(requests, seconds, hits, misses, bytes, storeRequests, storeBytes, saved);
    }

    private static void addKinds(CounterMetricFamily family, UsageTable.Row row, long reads,
            long writes) {
        family.addMetric(List.of(row.tenant(), row.bucket(), "read"), (double) reads);
        family.addMetric(List.of(row.tenant(), row.bucket(), "write"), (double) writes);
    }
}
