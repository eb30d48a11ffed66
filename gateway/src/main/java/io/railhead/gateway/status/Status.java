package io.railhead.gateway.status;

import io.railhead.gateway.metrics.BucketCounts;
import io.railhead.gateway.metrics.RecentErrors;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The content of {@code /status.json}, with names in snake case. Units are in the names: bytes,
 * milliseconds since the epoch, seconds. Counters are since the start unless stated otherwise.
 *
 * @param recent the counts of the minutes that the history covers
 * @param total the counts since the start
 * @param disk null without a disk tier
 * @param cluster null for a gateway whose cache is its own
 * @param declines the number of declined RDMA requests, by reason
 * @param refusals the number of refused RDMA requests, by reason
 * @param overload requests that waited or were refused
 * @param buckets the buckets with the most bytes
 * @param tenants the tenants that have a rule
 * @param configuration by key of {@code railhead.yaml}
 */
record Status(Gateway gateway, History history, Counts recent, Counts total, Memory memory,
        @Nullable Disk disk, @Nullable Cluster cluster, List<Fabric> fabrics,
        Map<String, Long> declines,
        Map<String, Long> refusals,
        Overload overload, List<BucketCounts.Total> buckets, List<Tenant> tenants,
        List<Latency> latencies,
        List<Store> backends,
        List<Failure> errors, Map<String, String> configuration) {

    /**
     * The process itself.
     *
     * @param version "" outside a release
     * @param reason why the gateway is not ready; "" if it is
     * @param certificateUntilMillis null without TLS
     * @param refusedFiles by setting, why its files' current content is not in force
     */
    record Gateway(String name, String version, String reason, long startedMillis, long nowMillis,
            int requestsInFlight, long heapBytes, long heapMaxBytes, int connections,
            int connectionLimit, int principals, @Nullable Long certificateUntilMillis,
            Map<String, String> refusedFiles) {}

    /**
     * Rates, the oldest first, one for each interval; the last one ends at {@code toMillis}.
     *
     * @param paths delivered bytes per second, by path
     * @param store bytes per second from the stores
     * @param hitRatio from 0 to 1; null without reads
     * @param errorRatio from 0 to 1, as in {@link Counts}; null without responses
     */
    record History(long toMillis, long intervalMillis, Map<String, List<Long>> paths,
            List<Long> store, List<@Nullable Double> hitRatio, List<@Nullable Double> errorRatio) {}

    /**
     * @param answered requests over HTTP
     * @param failed of those: 5xx, or cut in mid-body
     */
    record Counts(double seconds, long answered, long failed, long hits, long misses,
            long sparedBytes, long deliveredBytes, long oneSidedBytes, long storeBytes,
            long evictedPages, long shortages) {}

    /**
     * Registered memory.
     *
     * @param reserveFreeBytes of {@code reserveBytes}; not part of {@code freeBytes}
     * @param cells each [free, filling, held, leased, condemned, reserve in use] in bytes, by
     *            address
     */
    record Memory(long capacityBytes, long configuredBytes, long freeBytes, long reserveBytes,
            long reserveFreeBytes, long leases, long pages, long objects, long cellBytes,
            List<List<Long>> cells) {}

    /**
     * The disk tier.
     *
     * @param budgetBytes how much may be written a day; 0 for no limit
     * @param notKept pages that memory gave up and that were not written, by reason
     */
    record Disk(List<Volume> volumes, long capacityBytes, long heldBytes, long pages,
            long readPages, long readBytes, long writtenBytes, long budgetBytes, long indexBytes,
            long corruptPages, Map<String, Long> notKept) {}

    /** @param state opening, recovering, working, broken or refused */
    record Volume(String path, String state, String reason, long bytes, long heldBytes) {}

    /**
     * The cluster, as this gateway sees it.
     *
     * @param lease whether every other member answers
     * @param members the others
     */
    record Cluster(boolean lease, List<ClusterMember> members, long told, long unheard,
            long applied) {}

    /**
     * @param silenceSeconds the age of its last answer; null if it has given none
     * @param differsIn the keys that are configured otherwise there
     * @param fills where it answers fills; "" if it shares nothing out
     */
    record ClusterMember(String name, @Nullable Double silenceSeconds, List<String> differsIn,
            String fills) {}

    record Fabric(String name, boolean usable, String reason, long sessions, long transfers,
            long bytesWritten, long bytesRead, long registeredBytes,
            Map<String, Long> refusals) {}

    /**
     * @param waited requests that waited on an event loop for their turn
     * @param slowDowns requests answered SlowDown, the most frequent reason first
     */
    record Overload(long waited, List<SlowDown> slowDowns) {}

    /** @param tenant "" for unknown senders */
    record SlowDown(String reason, String tenant, long requests) {}

    /**
     * The cached pages that were fetched for one tenant.
     *
     * @param quotaBytes null without a quota
     * @param quotaEvictions pages evicted because of the quota
     */
    record Tenant(String name, long bytes, @Nullable Long quotaBytes, long floorBytes,
            long quotaEvictions) {}

    /** An operation's latency in seconds, over the minutes that the history covers. */
    record Latency(String operation, long count, @Nullable Double p50, @Nullable Double p99) {}

    /** @param lacks the missing capabilities that limit caching or checks */
    record Store(String name, List<String> endpoints, int healthyEndpoints, long requests,
            long failures, long retries, long bytesIn, long bytesOut, @Nullable Double p50,
            @Nullable Double p99, List<String> lacks) {}

    /**
     * An entry of equal errors.
     *
     * @param atMillis the time of the latest error, to which the request id belongs
     */
    record Failure(long atMillis, String requestId, long times, long sinceMillis, String code,
            int status, String where, String bucket) {

        static Failure of(RecentErrors.Entry entry) {
            return new Failure(entry.at().toEpochMilli(), entry.requestId(), entry.times(),
                    entry.since().toEpochMilli(), entry.code(), entry.status(), entry.where(),
                    entry.bucket());
        }
    }
}
