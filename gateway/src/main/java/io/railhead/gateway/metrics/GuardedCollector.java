package io.railhead.gateway.metrics;

import io.prometheus.client.Collector;
import java.util.List;
import java.util.function.BiConsumer;

/**
 * Collects nothing where its collector throws: otherwise one collector's fault would cost a scrape
 * all other series. Any thread.
 */
final class GuardedCollector extends Collector {
    private final Collector collector;
    private final BiConsumer<Collector, Throwable> onThrown;

    /** @param onThrown receives the collector and its exception, on the scraping thread */
    GuardedCollector(Collector collector, BiConsumer<Collector, Throwable> onThrown) {
        this.collector = collector;
        this.onThrown = onThrown;
    }

    @Override
    public List<MetricFamilySamples> collect() {
        try {
            return collector.collect();
        } catch (Throwable thrown) {
            onThrown.accept(collector, thrown);
            return List.of();
        }
    }
}
