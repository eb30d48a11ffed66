package io.railhead.gateway.status;

import io.railhead.backend.Backend;
import io.railhead.backend.BackendStats;
import io.railhead.cache.CacheStats;
import io.railhead.cache.EvictionCause;
import io.railhead.gateway.delivery.CacheResult;
import io.railhead.gateway.metrics.Metrics;
import io.railhead.rdma.Fabric;
import io.railhead.rdma.Health;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Samples the counters, and keeps the last minutes. A fabric or store that goes down between two
 * samples is added to the recent errors. Any thread except event loops.
 */
final class Sampler {
    static final String HTTP_HIT = "http_hit";
    static final String HTTP_MISS = "http_miss";
    static final String RELAYED = "relayed";

    private static final String HTTP = "http";

    private final StatusSources sources;
    private final Sample[] ring;
    private final Map<String, Boolean> usable = new HashMap<>();
    private final Map<String, Integer> healthy = new HashMap<>();
    private int count;

    /** @param most the most samples that are kept */
    Sampler(StatusSources sources, int most) {
        this.sources = sources;
        this.ring = new Sample[most];
    }

    /** Takes one more sample. */
    synchronized void sample() {
        ring[count++ % ring.length] = now();
        noteFabrics();
        noteStores();
    }

    /** Returns the samples, the oldest first. */
    synchronized List<Sample> samples() {
        Sample[] kept = new Sample[Math.min(count, ring.length)];
        for (int i = 0; i < kept.length; i++) {
            kept[i] = ring[(count - kept.length + i) % ring.length];
        }
        return List.of(kept);
    }

    /** Returns the current counters. */
    Sample now() {
        Metrics metrics = sources.metrics();
        Map<List<String>, Long> bytes = Series.of(metrics.cacheBytes);
        Map<List<String>, Long> results = Series.of(metrics.cacheResults);
        CacheStats cache = sources.cache().stats();
        long hits = Series.sum(results, labels -> isHit(labels.getFirst()));
        long misses = results.getOrDefault(List.of(CacheResult.MISS.label()), 0L);
        Sample.Reads reads = new Sample.Reads(hits, misses,
                Series.sum(bytes, labels -> isHit(labels.getFirst())));
        return new Sample(System.currentTimeMillis(), System.nanoTime(), paths(bytes),
                answers(metrics), reads,
                sources.backends().stream().mapToLong(store -> store.stats().bytesIn()).sum(),
                cache.evicted(EvictionCause.PRESSURE), cache.shortages(),
                Series.of(metrics.seconds),
                Series.of(metrics.backendSeconds));
    }

    private static Sample.Answers answers(Metrics metrics) {
        Map<List<String>, Long> requests = Series.of(metrics.requests);
        return new Sample.Answers(Series.sum(requests, _ -> true),
                Series.sum(requests, labels -> labels.getLast().startsWith("5"))
                        + Series.sum(Series.of(metrics.cutBodies), _ -> true));
    }

    private Map<String, Long> paths(Map<List<String>, Long> bytes) {
        Map<String, Long> paths = new LinkedHashMap<>();
        for (Fabric fabric : sources.fabrics()) {
            paths.put(fabric.name(),
                    Series.sum(bytes, labels -> labels.getLast().equals(fabric.name())));
        }
        paths.put(HTTP_HIT, Series.sum(bytes,
                labels -> labels.getLast().equals(HTTP) && isHit(labels.getFirst())));
        paths.put(HTTP_MISS, bytes.getOrDefault(List.of(CacheResult.MISS.label(), HTTP), 0L));
        paths.put(RELAYED, bytes.getOrDefault(List.of(CacheResult.BYPASS.label(), HTTP), 0L));
        return paths;
    }

    private static boolean isHit(String result) {
        return result.equals(CacheResult.HIT.label())
                || result.equals(CacheResult.REVALIDATED.label())
                || result.equals(CacheResult.STALE.label());
    }

    private void noteFabrics() {
        for (Fabric fabric : sources.fabrics()) {
            Health health = fabric.health();
            boolean was = Boolean.TRUE.equals(usable.put(fabric.name(), health.usable()));
            if (was && !health.usable()) {
                note("down: " + health.reason(), "fabric " + fabric.name());
            }
        }
    }

    private void noteStores() {
        for (Backend store : sources.backends()) {
            BackendStats stats = store.stats();
            Integer before = healthy.put(store.name(), stats.healthyEndpoints());
            if (before != null && before > stats.healthyEndpoints()) {
                note("down: " + (stats.endpoints() - stats.healthyEndpoints()) + " of "
                        + stats.endpoints() + " endpoints", "backend " + store.name());
            }
        }
    }

    private void note(String what, String where) {
        sources.metrics().recentErrors.add("", what, 0, where, "");
    }
}
