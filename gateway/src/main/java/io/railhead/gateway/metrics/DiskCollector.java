package io.railhead.gateway.metrics;

import io.prometheus.client.Collector;
import io.prometheus.client.CounterMetricFamily;
import io.prometheus.client.GaugeMetricFamily;
import io.railhead.cache.disk.DiskStats;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;

/** Collects the counters of the disk tier at each scrape. */
public final class DiskCollector extends Collector {
    private final Supplier<DiskStats> stats;

    public DiskCollector(Supplier<DiskStats> stats) {
        this.stats = stats;
    }

    @Override
    public List<MetricFamilySamples> collect() {
        DiskStats now = stats.get();
        GaugeMetricFamily volumes = new GaugeMetricFamily("railhead_disk_volumes",
                "Files and devices of the disk tier. Those that are being opened, or whose pages are not"
                        + " all known, are `recovering`. Those that fail or hang are `broken`, and"
                        + " left alone for now. The gateway does without `refused` ones until a restart.",
                List.of("state"));
        volumes.addMetric(List.of("working"), now.volumes() - now.brokenVolumes());
        volumes.addMetric(List.of("recovering"), now.recoveringVolumes());
        volumes.addMetric(List.of("broken"), now.brokenVolumes());
        volumes.addMetric(List.of("refused"), now.refusedVolumes());
        CounterMetricFamily pages = new CounterMetricFamily("railhead_disk_pages",
                "Pages `read` from disk, `written` to it, or found `corrupt` there and dropped.",
                List.of("result"));
        pages.addMetric(List.of("read"), (double) now.readPages());
        pages.addMetric(List.of("written"), (double) now.writtenPages());
        pages.addMetric(List.of("corrupt"), (double) now.corruptPages());
        CounterMetricFamily bytes = new CounterMetricFamily("railhead_disk_bytes",
                "Bytes of pages read from and written to disk.", List.of("direction"));
        bytes.addMetric(List.of("read"), (double) now.readBytes());
        bytes.addMetric(List.of("written"), (double) now.writtenBytes());
        CounterMetricFamily notKept = new CounterMetricFamily("railhead_disk_not_kept",
                "Pages that memory gave up and that were not written, by reason.",
                List.of("reason"));
        now.notKept()
                .forEach((reason, count) -> notKept.addMetric(
                        List.of(reason.name().toLowerCase(Locale.ROOT)), (double) count));
        GaugeMetricFamily tenants = new GaugeMetricFamily("railhead_disk_tenant_bytes",
                "Segments on disk of each tenant that has a rule in `cache.disk.tenants`.",
                List.of("tenant"));
        now.tenantBytes()
                .forEach((tenant, size) -> tenants.addMetric(List.of(tenant), (double) size));
        CounterMetricFamily faults = new CounterMetricFamily("railhead_disk_faults",
                "Calls of the disks that failed (`error`) or took too long (`hang`).",
                List.of("kind"));
        faults.addMetric(List.of("error"), (double) now.errors());
        faults.addMetric(List.of("hang"), (double) now.hangs());
        return List.of(volumes, pages, bytes, notKept, faults, tenants,
                gauge("railhead_disk_capacity_bytes", "Size of the files and devices in use.",
                        now.capacityBytes()),
                gauge("railhead_disk_cached_pages", "Pages held on disk.", now.pages()),
                gauge("railhead_disk_held_bytes", "Length of the pages held on disk.",
                        now.heldBytes()),
                gauge("railhead_disk_write_budget_bytes",
                        "How much may be written to the disks a day once they are full"
                                + " (`cache.disk.writes_per_day`); 0 for no limit.",
                        now.budgetBytes()),
                gauge("railhead_disk_index_bytes",
                        "Memory that the index of pages on disk takes, outside the heap.",
                        now.indexBytes()),
                gauge("railhead_disk_queued_bytes", "Memory of pages that wait to be written.",
                        now.queuedBytes()));
    }

    private static GaugeMetricFamily gauge(String name, String help, long value) {
        return new GaugeMetricFamily(name, help, (double) value);
    }
}
