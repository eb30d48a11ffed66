package io.railhead.gateway.metrics;

import io.prometheus.client.Collector;
import io.prometheus.client.CounterMetricFamily;
import io.prometheus.client.GaugeMetricFamily;
import io.railhead.gateway.object.writeback.WriteBack;
import java.util.List;
import java.util.function.Supplier;

/** Collects the state of writes that the store does not have yet, at each scrape. */
public final class WriteBackCollector extends Collector {
    private final Supplier<WriteBack.Stats> stats;

    public WriteBackCollector(Supplier<WriteBack.Stats> stats) {
        this.stats = stats;
    }

    @Override
    public List<MetricFamilySamples> collect() {
        WriteBack.Stats now = stats.get();
        CounterMetricFamily acknowledged = new CounterMetricFamily(
                "railhead_write_back_acknowledged",
                "Writes under rules with `acknowledge: disk`, by the level at which they were"
                        + " acknowledged.",
                List.of("level"));
        acknowledged.addMetric(List.of("disk"), (double) now.atDisk());
        acknowledged.addMetric(List.of("store"), (double) now.atStore());
        return List.of(acknowledged,
                gauge("railhead_write_back_pending",
                        "Objects acknowledged at disk that the store does not have yet.",
                        now.pending()),
                gauge("railhead_write_back_pending_bytes", "Length of these objects.",
                        (double) now.pendingBytes()),
                gauge("railhead_write_back_oldest_seconds",
                        "Age of the oldest of these objects; 0 for none.", now.oldestSeconds()),
                gauge("railhead_write_back_stuck",
                        "Objects of these that the store has refused. They are kept, and"
                                + " retried each minute.",
                        now.stuck()),
                counter("railhead_write_back_written_bytes",
                        "Bytes of objects that were acknowledged at disk and reached the store.",
                        now.writtenBytes()),
                counter("railhead_write_back_failed_tries",
                        "Tries to write such an object that the store refused or did not answer.",
                        now.failedTries()),
                counter("railhead_write_back_waits_ended",
                        "Requests answered 503 since pending writes took longer than"
                                + " `write_back.wait`.",
                        now.waitedTooLong()),
                counter("railhead_write_back_discarded",
                        "Such objects, and open uploads at the gateway's disk, that an"
                                + " administrator has discarded.",
                        now.discarded()),
                counter("railhead_write_back_over_quota",
                        "Objects that went to the store, and parts answered `SlowDown`, since"
                                + " their tenant held `write_back.tenant_quota` of the log.",
                        now.overShare()),
                new CounterMetricFamily("railhead_write_back_yielded_seconds",
                        "Time in which writes of such objects waited for reads that waited at the"
                                + " same store.",
                        now.yieldedSeconds()),
                gauge("railhead_write_back_uploads",
                        "Multipart uploads that are open at the gateway's disk.",
                        now.uploads().open()),
                gauge("railhead_write_back_uploads_bytes", "Length of their parts.",
                        (double) now.uploads().openBytes()),
                counter("railhead_write_back_uploads_abandoned",
                        "Multipart uploads at the gateway's disk that ended since no part came for"
                                + " a day.",
                        now.uploads().abandoned()),
                counter("railhead_write_back_parts_refused",
                        "Parts answered `SlowDown` since the log had no room within"
                                + " `write_back.wait`.",
                        now.uploads().refusedParts()),
                gauge("railhead_write_back_capacity_bytes",
                        "Room of the write-back log for bytes of objects.",
                        (double) now.log().capacityBytes()),
                gauge("railhead_write_back_free_bytes", "Part of that room that is free.",
                        (double) now.log().freeBytes()),
                gauge("railhead_write_back_log_failed",
                        "Whether the log's disk has failed (1): nothing is acknowledged at disk"
                                + " until a restart.",
                        now.log().failed() ? 1 : 0));
    }

    private static GaugeMetricFamily gauge(String name, String help, double value) {
        return new GaugeMetricFamily(name, help, value);
    }

    private static CounterMetricFamily counter(String name, String help, long value) {
        return new CounterMetricFamily(name, help, (double) value);
    }
}
