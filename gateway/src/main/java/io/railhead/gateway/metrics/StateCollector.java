package io.railhead.gateway.metrics;

import io.prometheus.client.Collector;
import io.prometheus.client.CounterMetricFamily;
import io.prometheus.client.GaugeMetricFamily;
import io.railhead.backend.Backend;
import io.railhead.backend.BackendStats;
import io.railhead.cache.CacheOnlyObjects;
import io.railhead.cache.CacheStats;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.Removals;
import io.railhead.cache.TenantQuota;
import io.railhead.cache.Verification;
import io.railhead.cache.memory.MemoryStats;
import io.railhead.cache.memory.PageMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;

/** Collects the counters of memory, cache and backends at each scrape. */
public final class StateCollector extends Collector {
    private final PageMemory memory;
    private final ObjectCache cache;
    private final Supplier<List<Backend>> backends;

    public StateCollector(PageMemory memory, ObjectCache cache, Supplier<List<Backend>> backends) {
        this.memory = memory;
        this.cache = cache;
        this.backends = backends;
    }

    @Override
    public List<MetricFamilySamples> collect() {
        List<MetricFamilySamples> families = new ArrayList<>();
        addMemory(families, memory.stats());
        addCache(families, cache.stats());
        addCacheOnly(families, cache.cacheOnly().stats());
        addRemovals(families, cache.cacheOnly().removals());
        addVerified(families, cache.verified());
        addTenants(families);
        addBackends(families);
        return families;
    }

    private static void addMemory(List<MetricFamilySamples> families, MemoryStats stats) {
        GaugeMetricFamily bytes = new GaugeMetricFamily("railhead_memory_bytes",
                "Registered memory.", List.of("state"));
        bytes.addMetric(List.of("capacity"), (double) stats.capacityBytes());
        bytes.addMetric(List.of("free"), (double) stats.freeBytes());
        bytes.addMetric(List.of("used"), (double) stats.usedBytes());
        bytes.addMetric(List.of("condemned"), (double) stats.condemnedBytes());
        bytes.addMetric(List.of("reserve"), (double) stats.reserveBytes());
        bytes.addMetric(List.of("reserve_free"), (double) stats.reserveFreeBytes());
        families.add(bytes);
        families.add(new GaugeMetricFamily("railhead_leases", "Leases open now.",
                (double) stats.leases()));
        families.add(new GaugeMetricFamily("railhead_oldest_lease_seconds",
                "Age of the lease that has been open longest.",
                (double) stats.oldestLeaseSeconds()));
    }

    private static void addCache(List<MetricFamilySamples> families, CacheStats stats) {
        CounterMetricFamily pages = new CounterMetricFamily("railhead_page_lookups",
                "Pages asked for by readers.",
                List.of("result"));
        pages.addMetric(List.of("hit"), (double) stats.pageHits());
        pages.addMetric(List.of("miss"), (double) stats.pageMisses());
        pages.addMetric(List.of("join"), (double) stats.pageJoins());
        families.add(pages);
        families.add(new CounterMetricFamily("railhead_fill_runs", "Ranged GETs of fills.",
                (double) stats.fillRuns()));
        families.add(new CounterMetricFamily("railhead_fill_bytes", "Bytes taken into pages.",
                (double) stats.fillBytes()));
        families.add(new CounterMetricFamily("railhead_read_ahead_bytes",
                "Bytes asked of stores before a reader asked for them.",
                (double) stats.readAheadBytes()));
        families.add(new CounterMetricFamily("railhead_fill_failures", "Fills that broke off.",
                (double) stats.fillFailures()));
        CounterMetricFamily checksums = new CounterMetricFamily("railhead_fill_checksums",
                "Objects whose bytes were compared with their store's checksum as they came.",
                List.of("result"));
        checksums.addMetric(List.of("match"), (double) stats.checksumMatches());
        checksums.addMetric(List.of("mismatch"), (double) stats.checksumMismatches());
        families.add(checksums);
        CounterMetricFamily evicted = new CounterMetricFamily("railhead_evicted_pages",
                "Pages that left the cache: `pressure` (made room), `quota` (a tenant is at its own),"
                        + " `invalidated` (written, deleted or replaced), `admin` (an operator's call),"
                        + " `corrupt`.",
                List.of("cause"));
        stats.evictedPages()
                .forEach((cause, evictions) -> evicted.addMetric(
                        List.of(cause.name().toLowerCase(Locale.ROOT)), (double) evictions));
        families.add(evicted);
        families.add(new CounterMetricFamily("railhead_memory_shortages",
                "Reads that found no page to fill.",
                (double) stats.shortages()));
        families.add(new GaugeMetricFamily("railhead_cached_objects", "Objects known.",
                (double) stats.objects()));
        families.add(new GaugeMetricFamily("railhead_cached_pages", "Pages held.",
                (double) stats.pages()));
        families.add(new GaugeMetricFamily("railhead_staged_bytes",
                "Uploads kept aside until the store has confirmed them.",
                (double) stats.stagedBytes()));
        families.add(new GaugeMetricFamily("railhead_pinned_bytes",
                "Memory that pins keep from being evicted.", (double) stats.pinnedBytes()));
        families.add(new GaugeMetricFamily("railhead_pin_limit_bytes",
                "What pins may keep at most.", (double) stats.pinLimitBytes()));
    }

    private static void addRemovals(List<MetricFamilySamples> families, Removals removals) {
        families.add(new CounterMetricFamily("railhead_cache_only_removals_lost",
                "Removals that a subscriber was not told of: its queue was full.",
                (double) removals.lost()));
        families.add(new GaugeMetricFamily("railhead_cache_only_subscriptions",
                "Subscriptions to removals of cache-only objects that are open now.",
                (double) removals.subscriptions()));
    }

    private static void addCacheOnly(List<MetricFamilySamples> families,
            CacheOnlyObjects.Stats stats) {
        families.add(new GaugeMetricFamily("railhead_cache_only_objects",
                "Objects that no store has.", (double) stats.objects()));
        families.add(new GaugeMetricFamily("railhead_cache_only_bytes",
                "Memory of objects that no store has.", (double) stats.bytes()));
        families.add(new GaugeMetricFamily("railhead_cache_only_leased_bytes",
                "Memory of cache-only objects that are leased now.",
                (double) stats.leasedBytes()));
        families.add(new GaugeMetricFamily("railhead_cache_only_leaving_bytes",
                "Memory of cache-only objects that the disk is taking.",
                (double) stats.leavingBytes()));
        CounterMetricFamily leases = new CounterMetricFamily("railhead_cache_only_leases",
                "Leases of cache-only objects: `granted`, or `refused` beyond the tenant's share.",
                List.of("outcome"));
        leases.addMetric(List.of("granted"), (double) stats.leased());
        leases.addMetric(List.of("refused"), (double) stats.leasesRefused());
        families.add(leases);
        CounterMetricFamily puts = new CounterMetricFamily("railhead_cache_only_puts",
                "Puts of cache-only objects: `stored`, or `refused` without room.",
                List.of("outcome"));
        puts.addMetric(List.of("stored"), (double) stats.puts());
        puts.addMetric(List.of("refused"), (double) stats.refused());
        families.add(puts);
        CounterMetricFamily lookups = new CounterMetricFamily("railhead_cache_only_lookups",
                "Lookups of cache-only keys; a request may look more than once.",
                List.of("result"));
        lookups.addMetric(List.of("hit"), (double) stats.found());
        lookups.addMetric(List.of("miss"), (double) stats.absent());
        families.add(lookups);
        CounterMetricFamily removed = new CounterMetricFamily("railhead_cache_only_removed",
                "Cache-only objects that went undeleted: `evicted` for room or by an operator,"
                        + " `expired` after their rule's ttl, `lost` by the disk.",
                List.of("cause"));
        removed.addMetric(List.of("evicted"), (double) stats.evicted());
        removed.addMetric(List.of("lost"), (double) stats.lost());
        removed.addMetric(List.of("expired"), (double) stats.expired());
        families.add(removed);
        families.add(new GaugeMetricFamily("railhead_cache_only_disk_objects",
                "Cache-only objects whose bytes are on disk alone.", (double) stats.onDisk()));
        CounterMetricFamily moved = new CounterMetricFamily("railhead_cache_only_moved",
                "Cache-only objects that went `down` to disk, or came `up` to memory to be read.",
                List.of("direction"));
        moved.addMetric(List.of("down"), (double) stats.demoted());
        moved.addMetric(List.of("up"), (double) stats.promoted());
        families.add(moved);
    }

    private static void addVerified(List<MetricFamilySamples> families,
            Verification.Counts counts) {
        CounterMetricFamily corrupt = new CounterMetricFamily("railhead_corrupt_pages",
                "Pages evicted since their bytes had changed in memory.", List.of("found_by"));
        corrupt.addMetric(List.of("read"), (double) counts.corruptAtRead());
        corrupt.addMetric(List.of("scrub"), (double) counts.corruptAtScrub());
        families.add(corrupt);
        families.add(new CounterMetricFamily("railhead_scrubbed_bytes",
                "Held bytes that were compared with their checksums in the background.",
                (double) counts.scrubbedBytes()));
    }

    private void addTenants(List<MetricFamilySamples> families) {
        GaugeMetricFamily bytes = new GaugeMetricFamily("railhead_tenant_cached_bytes",
                "What was fetched for a tenant that has a rule, and is cached.",
                List.of("tenant"));
        CounterMetricFamily evictions = new CounterMetricFamily(
                "railhead_tenant_quota_evictions",
                "Pages that went since a tenant is at its quota.",
                List.of("tenant"));
        for (TenantQuota.Use use : cache.tenants()) {
            bytes.addMetric(List.of(use.tenant()), (double) use.bytes());
            evictions.addMetric(List.of(use.tenant()), (double) use.quotaEvictions());
        }
        families.add(bytes);
        families.add(evictions);
    }

    private void addBackends(List<MetricFamilySamples> families) {
        List<String> backend = List.of("backend");
        CounterMetricFamily requests = new CounterMetricFamily("railhead_backend_requests",
                "Requests sent to a store, retries included.", List.of("backend", "kind"));
        CounterMetricFamily retries = new CounterMetricFamily("railhead_backend_retries",
                "Requests sent again.", backend);
        CounterMetricFamily failures = new CounterMetricFamily("railhead_backend_failures",
                "Requests that a store did not answer.", backend);
        CounterMetricFamily bytes = new CounterMetricFamily("railhead_backend_bytes", "Body bytes.",
                List.of("backend", "direction"));
        GaugeMetricFamily endpoints = new GaugeMetricFamily("railhead_backend_endpoints",
                "Endpoints by state.",
                List.of("backend", "state"));
        GaugeMetricFamily limit = new GaugeMetricFamily("railhead_backend_fetch_limit",
                "Fetches that a store is trusted with at a time.", backend);
        GaugeMetricFamily fetches = new GaugeMetricFamily("railhead_backend_fetches",
                "Fetches under way to a store, and those that wait for their turn.",
                List.of("backend", "state"));
        GaugeMetricFamily waiting = new GaugeMetricFamily("railhead_backend_rate_waiting",
                "Requests that wait since the store allows no more in a second.", backend);
        CounterMetricFamily delayed = new CounterMetricFamily("railhead_backend_rate_delayed",
                "Requests that had to wait since the store allows no more in a second.", backend);
        for (Backend each : backends.get()) {
            BackendStats stats = each.stats();
            requests.addMetric(List.of(each.name(), "ranged_get"), (double) stats.rangedGets());
            requests.addMetric(List.of(each.name(), "head"), (double) stats.heads());
            requests.addMetric(List.of(each.name(), "other"),
                    (double) (stats.requests() - stats.rangedGets() - stats.heads()));
            retries.addMetric(List.of(each.name()), (double) stats.retries());
            failures.addMetric(List.of(each.name()), (double) stats.failures());
            bytes.addMetric(List.of(each.name(), "in"), (double) stats.bytesIn());
            bytes.addMetric(List.of(each.name(), "out"), (double) stats.bytesOut());
            endpoints.addMetric(List.of(each.name(), "healthy"), (double) stats.healthyEndpoints());
            endpoints.addMetric(List.of(each.name(), "ejected"),
                    (double) (stats.endpoints() - stats.healthyEndpoints()));
            limit.addMetric(List.of(each.name()), (double) stats.fetchLimit());
            fetches.addMetric(List.of(each.name(), "under_way"),
                    (double) stats.fetchesUnderWay());
            fetches.addMetric(List.of(each.name(), "waiting"), (double) stats.fetchesWaiting());
            waiting.addMetric(List.of(each.name()), stats.rateWaiting());
            delayed.addMetric(List.of(each.name()), (double) stats.rateDelayed());
        }
        families.addAll(List.of(requests, retries, failures, bytes, endpoints, limit, fetches,
                waiting, delayed));
    }
}
