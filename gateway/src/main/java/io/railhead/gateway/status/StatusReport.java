package io.railhead.gateway.status;

import static java.util.Objects.requireNonNull;

import io.prometheus.client.Counter;
import io.railhead.backend.Backend;
import io.railhead.backend.BackendStats;
import io.railhead.backend.Capabilities;
import io.railhead.cache.CacheStats;
import io.railhead.cache.TenantQuota;
import io.railhead.cache.disk.DiskStats;
import io.railhead.cache.disk.DiskTier;
import io.railhead.cache.memory.MemoryStats;
import io.railhead.cache.memory.SlotMap;
import io.railhead.cluster.ClusterState;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.metrics.BucketCounts;
import io.railhead.gateway.metrics.Metrics;
import io.railhead.gateway.status.Series.Bucket;
import io.railhead.rdma.Fabric;
import io.railhead.rdma.FabricStats;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Builds the content of the page. Any thread except event loops. */
final class StatusReport {
    private static final int TOP = 12;

    private final StatusSources sources;
    private final Sampler sampler;
    private final long intervalMillis;
    private final Sample start;

    StatusReport(StatusSources sources, Sampler sampler, long intervalMillis) {
        this.sources = sources;
        this.sampler = sampler;
        this.intervalMillis = intervalMillis;
        this.start = sampler.now();
    }

    Status make() {
        List<Sample> samples = new ArrayList<>(sampler.samples());
        Sample now = sampler.now();
        Sample first = samples.isEmpty() ? now : samples.getFirst();
        return new Status(gateway(now), history(samples), counts(first, now),
                counts(start, now), memory(), disk(), cluster(), fabrics(),
                byReason(sources.metrics().rdmaDeclined),
                byReason(sources.metrics().rdmaRefused), overload(), buckets(), tenants(),
                latencies(first, now),
                stores(first, now),
                sources.metrics().recentErrors.newestFirst()
                        .stream()
                        .map(Status.Failure::of)
                        .toList(),
                sources.config().settings());
    }

    private Status.Gateway gateway(Sample now) {
        StatusSources.OwnFacts own = sources.own();
        MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
        Instant until = own.certificateUntil().get();
        return new Status.Gateway(sources.config().gateway().name(), Metrics.version(),
                sources.readiness().reasonNotReady(), start.atMillis(), now.atMillis(),
                (int) sources.metrics().inFlight.get(), heap.getUsed(), heap.getMax(),
                own.connections().getAsInt(), own.connectionLimit().getAsInt(),
                own.principals().getAsInt(), until == null ? null : until.toEpochMilli(),
                own.refusals().get());
    }

    private Status.History history(List<Sample> samples) {
        Map<String, List<Long>> paths = new LinkedHashMap<>();
        start.path().keySet().forEach(path -> paths.put(path, new ArrayList<>()));
        List<Long> store = new ArrayList<>();
        List<@Nullable Double> ratios = new ArrayList<>();
        List<@Nullable Double> errors = new ArrayList<>();
        for (int i = 1; i < samples.size(); i++) {
            Sample before = samples.get(i - 1);
            Sample after = samples.get(i);
            paths.forEach((path, rates) -> rates
                    .add(rate(before, after, before.path().get(path), after.path().get(path))));
            store.add(rate(before, after, before.storeBytes(), after.storeBytes()));
            ratios.add(ratio(before.reads(), after.reads()));
            errors.add(ratio(before.answers(), after.answers()));
        }
        long to = samples.isEmpty() ? start.atMillis() : samples.getLast().atMillis();
        return new Status.History(to, intervalMillis, paths, store, ratios, errors);
    }

    private static long rate(Sample before, Sample after, @Nullable Long from,
            @Nullable Long to) {
        double seconds = Math.max(1e-3, (after.atNanos() - before.atNanos()) / 1e9);
        return from == null || to == null ? 0 : Math.round((to - from) / seconds);
    }

    private static @Nullable Double ratio(Sample.Reads before, Sample.Reads after) {
        long hits = after.hits() - before.hits();
        long reads = hits + after.misses() - before.misses();
        return part(hits, reads);
    }

    private static @Nullable Double ratio(Sample.Answers before, Sample.Answers after) {
        return part(after.failed() - before.failed(), after.all() - before.all());
    }

    private static @Nullable Double part(long part, long whole) {
        return whole == 0 ? null : Math.min(1, Math.round(1e4 * part / whole) / 1e4);
    }

    private Status.Counts counts(Sample from, Sample to) {
        List<String> fabrics = sources.fabrics().stream().map(Fabric::name).toList();
        long oneSided = 0;
        long delivered = 0;
        for (Map.Entry<String, Long> path : to.path().entrySet()) {
            long bytes = path.getValue() - from.path().getOrDefault(path.getKey(), 0L);
            delivered += bytes;
            oneSided += fabrics.contains(path.getKey()) ? bytes : 0;
        }
        return new Status.Counts((to.atNanos() - from.atNanos()) / 1e9,
                to.answers().all() - from.answers().all(),
                to.answers().failed() - from.answers().failed(),
                to.reads().hits() - from.reads().hits(),
                to.reads().misses() - from.reads().misses(),
                to.reads().sparedBytes() - from.reads().sparedBytes(), delivered, oneSided,
                to.storeBytes() - from.storeBytes(), to.evictedPages() - from.evictedPages(),
                to.shortages() - from.shortages());
    }

    private Status.Memory memory() {
        MemoryStats memory = sources.memory().stats();
        CacheStats cache = sources.cache().stats();
        SlotMap map = sources.memory().map();
        return new Status.Memory(memory.capacityBytes(),
                sources.config().cache().memory().bytes(), memory.freeBytes(),
                memory.reserveBytes(), memory.reserveFreeBytes(), memory.leases(), cache.pages(),
                cache.objects(), map.cellBytes(),
                map.cells().stream().map(StatusReport::cell).toList());
    }

    private static List<Long> cell(SlotMap.Cell cell) {
        return Stream.concat(Stream.of(cell.free()),
                Stream.of(SlotMap.Use.FILLING, SlotMap.Use.HELD, SlotMap.Use.LEASED,
                        SlotMap.Use.CONDEMNED, SlotMap.Use.RESERVE).map(cell::used))
                .toList();
    }

    private Status.@Nullable Disk disk() {
        DiskTier disks = sources.disks();
        if (disks == null) {
            return null;
        }
        DiskStats stats = disks.stats();
        Map<String, Long> notKept = new TreeMap<>();
        addTo(notKept, stats.notKept());
        List<Status.Volume> volumes = disks.volumes()
                .stream()
                .map(volume -> new Status.Volume(volume.path(),
                        volume.state().name().toLowerCase(Locale.ROOT), volume.reason(),
                        volume.bytes(), volume.heldBytes()))
                .toList();
        return new Status.Disk(volumes, stats.capacityBytes(), stats.heldBytes(), stats.pages(),
                stats.readPages(), stats.readBytes(), stats.writtenBytes(), stats.budgetBytes(),
                stats.indexBytes(), stats.corruptPages(), notKept);
    }

    private Status.@Nullable Cluster cluster() {
        Supplier<ClusterState> cluster = sources.cluster();
        if (cluster == null) {
            return null;
        }
        ClusterState state = cluster.get();
        List<Status.ClusterMember> members = state.peers().stream().map(peer -> {
            Duration silence = peer.silence();
            return new Status.ClusterMember(peer.member().name(),
                    silence == null ? null : silence.toMillis() / 1e3, peer.differing(),
                    peer.fills());
        }).toList();
        return new Status.Cluster(state.isLeaseHeld(), members, state.casts(), state.unheard(),
                state.applied());
    }

    private List<Status.Fabric> fabrics() {
        return sources.fabrics().stream().map(fabric -> {
            FabricStats stats = fabric.stats();
            Map<String, Long> refusals = new TreeMap<>();
            addTo(refusals, stats.refusals());
            addTo(refusals, stats.peerRefusals());
            return new Status.Fabric(fabric.name(), fabric.health().usable(),
                    fabric.health().reason(), stats.sessions(), stats.transfers(),
                    stats.bytesWritten(), stats.bytesRead(), stats.registeredBytes(), refusals);
        }).toList();
    }

    private static void addTo(Map<String, Long> refusals, Map<? extends Enum<?>, Long> counts) {
        counts.forEach((reason, count) -> {
            if (count > 0) {
                refusals.merge(reason.name().toLowerCase(Locale.ROOT), count, Long::sum);
            }
        });
    }

    /** Returns the values of a counter with one label, the most frequent first. */
    private static Map<String, Long> byReason(Counter counter) {
        Map<String, Long> reasons = new LinkedHashMap<>();
        Series.of(counter)
                .entrySet()
                .stream()
                .filter(entry -> entry.getValue() > 0)
                .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
                .forEach(entry -> reasons.put(entry.getKey().getFirst(), entry.getValue()));
        return reasons;
    }

    private Status.Overload overload() {
        return new Status.Overload((long) sources.metrics().waited.get(),
                Series.of(sources.metrics().refused)
                        .entrySet()
                        .stream()
                        .map(entry -> new Status.SlowDown(entry.getKey().getFirst(),
                                entry.getKey().getLast(), entry.getValue()))
                        .sorted(Comparator.comparingLong(Status.SlowDown::requests).reversed())
                        .limit(TOP)
                        .toList());
    }

    /** Returns the largest buckets; the others are added together. */
    private List<BucketCounts.Total> buckets() {
        List<BucketCounts.Total> all = sources.metrics().buckets.totals();
        if (all.size() <= TOP) {
            return all;
        }
        List<BucketCounts.Total> top = new ArrayList<>(all.subList(0, TOP - 1));
        List<BucketCounts.Total> rest = all.subList(TOP - 1, all.size());
        top.add(new BucketCounts.Total(BucketCounts.OTHER,
                rest.stream().mapToLong(BucketCounts.Total::requests).sum(),
                rest.stream().mapToLong(BucketCounts.Total::bytes).sum()));
        return top;
    }

    private List<Status.Tenant> tenants() {
        Map<String, TenantQuota> rules = sources.config().cache().tenants();
        return sources.cache().tenants().stream().map(use -> {
            TenantQuota rule = requireNonNull(rules.get(use.tenant()));
            return new Status.Tenant(use.tenant(), use.bytes(),
                    rule.quotaBytes() == TenantQuota.NO_QUOTA ? null : rule.quotaBytes(),
                    rule.floorBytes(), use.quotaEvictions());
        }).toList();
    }

    private static Quantiles quantiles(Map<String, List<Bucket>> before,
            Map<String, List<Bucket>> after, String name) {
        return new Quantiles(before.getOrDefault(name, List.of()),
                after.getOrDefault(name, List.of()));
    }

    private static List<Status.Latency> latencies(Sample first, Sample now) {
        return now.requests()
                .keySet()
                .stream()
                .map(operation -> {
                    Quantiles took = quantiles(first.requests(), now.requests(), operation);
                    return new Status.Latency(operation, took.count(), took.at(0.5),
                            took.at(0.99));
                })
                .filter(latency -> latency.count() > 0)
                .sorted(Comparator.comparingLong(Status.Latency::count).reversed())
                .limit(TOP)
                .toList();
    }

    private List<Status.Store> stores(Sample first, Sample now) {
        return sources.backends().stream().map(store -> {
            BackendStats stats = store.stats();
            Quantiles took = quantiles(first.stores(), now.stores(), store.name());
            return new Status.Store(store.name(), endpoints(store.name()),
                    stats.healthyEndpoints(), stats.requests(), stats.failures(), stats.retries(),
                    stats.bytesIn(), stats.bytesOut(), took.at(0.5), took.at(0.99),
                    lacks(store));
        }).toList();
    }

    private List<String> endpoints(String store) {
        GatewayConfig.Store configured = sources.config().backends().get(store);
        return configured == null
                ? Collections.emptyList()
                : configured.backend().endpoints().stream().map(URI::toString).toList();
    }

    private static List<String> lacks(Backend store) {
        Capabilities can = store.capabilities();
        List<String> lacks = new ArrayList<>();
        if (!can.ranges()) {
            lacks.add("ranges");
        }
        if (!can.ifMatchOnRangedGet()) {
            lacks.add("If-Match on ranged GETs");
        }
        if (!can.conditionalHead()) {
            lacks.add("conditional HEAD");
        }
        if (!can.checksums()) {
            lacks.add("checksums");
        }
        return lacks;
    }
}
