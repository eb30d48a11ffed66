package io.railhead.gateway.admission;

import io.prometheus.client.Collector;
import io.prometheus.client.GaugeMetricFamily;
import java.util.List;
import java.util.function.IntSupplier;

/** Collects the admitted requests and their limits at each scrape. */
public final class AdmissionCollector extends Collector {
    private final Admission admission;
    private final IntSupplier connections;
    private final IntSupplier mostConnections;
    private final HeapPressure heap;

    public AdmissionCollector(Admission admission, IntSupplier connections,
            IntSupplier mostConnections,
            HeapPressure heap) {
        this.admission = admission;
        this.connections = connections;
        this.mostConnections = mostConnections;
        this.heap = heap;
    }

    @Override
    public List<MetricFamilySamples> collect() {
        GaugeMetricFamily inUse = new GaugeMetricFamily("railhead_admission_in_use",
                "Requests taken on and not over, bytes of their bodies, open connections.",
                List.of("what"));
        inUse.addMetric(List.of("requests"), admission.requests());
        inUse.addMetric(List.of("bytes"), (double) admission.bytes());
        inUse.addMetric(List.of("connections"), connections.getAsInt());
        GaugeMetricFamily limit = new GaugeMetricFamily("railhead_admission_limit",
                "Past it only those are taken on who have less than their share, and no connection.",
                List.of("what"));
        limit.addMetric(List.of("requests"), admission.limits().requests());
        limit.addMetric(List.of("bytes"), (double) admission.limits().bytes());
        limit.addMetric(List.of("connections"), mostConnections.getAsInt());
        return List.of(inUse, limit, new GaugeMetricFamily("railhead_admission_tenants",
                "Tenants with requests in flight.", admission.active()),
                new GaugeMetricFamily("railhead_heap_pressure",
                        "0; 1: nothing new is cached; 2: requests are refused.",
                        switch (heap.stage()) {
                            case NONE -> 0;
                            case NO_CACHING -> 1;
                            case NO_REQUESTS -> 2;
                        }));
    }
}
