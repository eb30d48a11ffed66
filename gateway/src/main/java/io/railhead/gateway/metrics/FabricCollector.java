package io.railhead.gateway.metrics;

import io.prometheus.client.Collector;
import io.prometheus.client.CounterMetricFamily;
import io.prometheus.client.GaugeMetricFamily;
import io.railhead.rdma.Fabric;
import io.railhead.rdma.FabricStats;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Collects the fabrics' own counters at each scrape. */
public final class FabricCollector extends Collector {
    private static final double NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final List<String> FABRIC = List.of("fabric");

    private final List<Fabric> fabrics;

    public FabricCollector(Collection<Fabric> fabrics) {
        this.fabrics = List.copyOf(fabrics);
    }

    @Override
    public List<MetricFamilySamples> collect() {
        GaugeMetricFamily usable = new GaugeMetricFamily("railhead_fabric_usable",
                "1 where transfers can begin now.", FABRIC);
        GaugeMetricFamily sessions = new GaugeMetricFamily("railhead_fabric_sessions",
                "Proven sessions open now.", FABRIC);
        GaugeMetricFamily registered = new GaugeMetricFamily("railhead_fabric_registered_bytes",
                "Peers' memory registered now.", FABRIC);
        CounterMetricFamily transfers = new CounterMetricFamily("railhead_fabric_transfers",
                "Transfers begun; a native hit is none.", FABRIC);
        CounterMetricFamily bytes = new CounterMetricFamily("railhead_fabric_bytes",
                "Bytes that have arrived, into peers' memory (write) or from it (read).",
                List.of("fabric", "direction"));
        CounterMetricFamily copying = new CounterMetricFamily("railhead_fabric_copy_seconds",
                "Processor time of one-sided copies.", FABRIC);
        CounterMetricFamily spinning = new CounterMetricFamily("railhead_fabric_idle_spin_seconds",
                "Processor time of pollers that looked for work in vain before they slept.",
                FABRIC);
        CounterMetricFamily refusals = new CounterMetricFamily("railhead_fabric_refusals",
                "Transfers refused or broken off (side transfer), and what peers were refused"
                        + " (side peer).",
                List.of("fabric", "side", "reason"));
        GaugeMetricFamily pairs = new GaugeMetricFamily("railhead_queue_pairs",
                "Queue pairs there are now, by what they are about.", List.of("fabric", "state"));
        CounterMetricFamily polling = new CounterMetricFamily("railhead_poller_cpu_seconds",
                "Processor time of each poller's thread, whatever it did.",
                List.of("fabric", "poller"));
        for (Fabric fabric : fabrics) {
            List<String> name = List.of(fabric.name());
            FabricStats stats = fabric.stats();
            usable.addMetric(name, fabric.health().usable() ? 1 : 0);
            sessions.addMetric(name, (double) stats.sessions());
            registered.addMetric(name, (double) stats.registeredBytes());
            transfers.addMetric(name, (double) stats.transfers());
            bytes.addMetric(List.of(fabric.name(), "write"), (double) stats.bytesWritten());
            bytes.addMetric(List.of(fabric.name(), "read"), (double) stats.bytesRead());
            copying.addMetric(name, (double) stats.copyNanos() / NANOS);
            spinning.addMetric(name, (double) stats.idleSpinNanos() / NANOS);
            add(refusals, fabric.name(), "transfer", stats.refusals());
            add(refusals, fabric.name(), "peer", stats.peerRefusals());
            stats.queuePairs()
                    .forEach((state, count) -> pairs
                            .addMetric(List.of(fabric.name(), word(state)), (double) count));
            stats.pollerNanos()
                    .forEach((poller, nanos) -> polling
                            .addMetric(List.of(fabric.name(), poller), (double) nanos / NANOS));
        }
        return List.of(usable, sessions, registered, transfers, bytes, copying, spinning,
                refusals, pairs, polling);
    }

    private static void add(CounterMetricFamily refusals, String fabric, String side,
            Map<? extends Enum<?>, Long> counts) {
        counts.forEach((reason, count) -> refusals.addMetric(
                List.of(fabric, side, word(reason)), (double) count));
    }

    private static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }
}
