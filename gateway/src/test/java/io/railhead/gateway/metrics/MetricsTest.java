package io.railhead.gateway.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.prometheus.client.Collector;
import io.prometheus.client.GaugeMetricFamily;
import java.util.List;
import org.junit.jupiter.api.Test;

class MetricsTest {
    private final Metrics metrics = new Metrics();

    /** Collects what it is made with, or throws. */
    private static final class Given extends Collector {
        private final String name;
        private final boolean throwing;

        private Given(String name, boolean throwing) {
            this.name = name;
            this.throwing = throwing;
        }

        @Override
        public List<MetricFamilySamples> collect() {
            if (throwing) {
                throw new IllegalArgumentException("used > committed");
            }
            return List.of(new GaugeMetricFamily(name, "A test's.", 1));
        }
    }

    @Test
    void aCollectorThatThrowsCostsNoOtherItsSeries() {
        metrics.register(new Given("before", false));
        metrics.register(new Given("broken", true));
        metrics.register(new Given("after", false));
        assertThat(metrics.text().lines())
                .contains("before 1.0", "after 1.0")
                .noneMatch(line -> line.startsWith("broken"));
        // Reads the counter itself: a scrape may collect it before the collector that throws.
        assertThat(metrics.internalErrors.labels("scrape").get()).isGreaterThanOrEqualTo(1);
    }

    @Test
    void theVirtualMachinesOwnSeriesAreThere() {
        assertThat(metrics.text()).contains("jvm_threads_current ", "jvm_memory_bytes_used{",
                "process_cpu_seconds_total ", "jvm_gc_collection_seconds_count{",
                "jvm_memory_pool_bytes_used{", "jvm_buffer_pool_used_bytes{",
                "jvm_classes_currently_loaded ", "jvm_info{");
    }
}
