package io.railhead.gateway.status;

import io.railhead.gateway.metrics.BucketCounts;
import io.railhead.gateway.metrics.RecentErrors;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * {@code /status.json}, names in snake case: bytes, milliseconds since the epoch and seconds as the
 * names say, counts since the start where nothing else is said.
 *
 * @param recent what was counted during the minutes that the history covers
 * @param total the same since the start
 * @param declines how often RDMA was asked for and not used, by reason
 * @param refusals how often such a request was answered with an error, by reason
 * @param overload what was asked for faster than it could be served
 * @param buckets those with the most bytes
 * @param tenants those that have a rule
 * @param configuration by key of {@code railhead.yaml}
 */
record Status(Gateway gateway, History history, Counts recent, Counts total, Memory memory,
        List<Fabric> fabrics, Map<String, Long> declines, Map<String, Long> refusals,
        Overload overload, List<BucketCounts.Total> buckets, List<Tenant> tenants,
        List<Latency> latencies,
        List<Store> backends,
        List<Failure> errors, Map<String, String> configuration) {

    /**
     * The process itself.
     *
     * @param version "" where it was not built as a release
     * @param reason why it should not be sent requests; "" if it should
     * @param certificateUntilMillis null without TLS
     * @param refusedFiles why a setting's files are not in force as they are, by setting
     */
    record Gateway(String name, String version, String reason, long startedMillis, long nowMillis,
            int requestsInFlight, long heapBytes, long heapMaxBytes, int connections,
            int connectionLimit, int principals, @Nullable Long certificateUntilMillis,
            Map<String, String> refusedFiles) {}

    /**
     * Rates, the oldest first, one for each interval that ends at {@code toMillis} or before.
     *
     * @param paths delivered bytes per second, by how they went
     * @param store bytes per second that came from the stores
     * @param hitRatio from 0 to 1; null where nothing was read
     * @param errorRatio from 0 to 1, as {@link Counts} count; null where nothing was answered
     */
    record History(long toMillis, long intervalMillis, Map<String, List<Long>> paths,
            List<Long> store, List<@Nullable Double> hitRatio, List<@Nullable Double> errorRatio) {}

    /**
     * @param answered requests over HTTP
     * @param failed of those: answered 5xx, or cut in mid-body
     */
    record Counts(double seconds, long answered, long failed, long hits, long misses,
            long sparedBytes, long deliveredBytes, long oneSidedBytes, long storeBytes,
            long evictedPages, long shortages) {}

    /**
     * Registered memory.
     *
     * @param reserveFreeBytes of {@code reserveBytes}; not part of {@code freeBytes}
     * @param cells each [free, filling, held, leased, condemned, reserve in use] in bytes, in the
     *            order of addresses
     */
    record Memory(long capacityBytes, long configuredBytes, long freeBytes, long reserveBytes,
            long reserveFreeBytes, long leases, long pages, long objects, long cellBytes,
            List<List<Long>> cells) {}

    record Fabric(String name, boolean usable, String reason, long sessions, long transfers,
            long bytesWritten, long bytesRead, long registeredBytes,
            Map<String, Long> refusals) {}

    /**
     * @param waited requests that waited for their turn on an event loop
     * @param slowDowns those that were answered SlowDown, the most frequent first
     */
    record Overload(long waited, List<SlowDown> slowDowns) {}

    /** @param tenant "" for those whom nobody can name */
    record SlowDown(String reason, String tenant, long requests) {}

    /**
     * What was fetched for one tenant, and is cached.
     *
     * @param quotaBytes null where it has none
     * @param quotaEvictions pages that went since it is at its quota
     */
    record Tenant(String name, long bytes, @Nullable Long quotaBytes, long floorBytes,
            long quotaEvictions) {}

    /** Of an operation; in seconds, during the minutes that the history covers. */
    record Latency(String operation, long count, @Nullable Double p50, @Nullable Double p99) {}

    /** @param lacks what keeps it from being cached, or checked, as it could be */
    record Store(String name, List<String> endpoints, int healthyEndpoints, long requests,
            long failures, long retries, long bytesIn, long bytesOut, @Nullable Double p50,
            @Nullable Double p99, List<String> lacks) {}

    /**
     * Equal errors are one.
     *
     * @param atMillis of the last one, as its request id is
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
