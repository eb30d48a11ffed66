package io.railhead.gateway.frontdoor;

import io.prometheus.client.Counter;
import io.prometheus.client.Histogram;
import io.railhead.gateway.delivery.CacheResult;
import io.railhead.gateway.log.AccessLog;
import io.railhead.gateway.metrics.Metrics;

/** The metrics and the access log of hits. The series are looked up once. Any thread. */
final class HitLogs {
    private static final String OPERATION = "GetObject";
    private static final String TRANSPORT = "http";

    private final Metrics metrics;
    private final AccessLog accessLog;
    private final Counter.Child whole;
    private final Counter.Child partial;
    private final Histogram.Child seconds;
    private final Counter.Child cacheHits;
    private final Counter.Child bytes;
    private final Counter.Child cacheHitBytes;

    HitLogs(FrontDoor.Logs logs) {
        this.metrics = logs.metrics();
        this.accessLog = logs.accessLog();
        this.whole = metrics.requests.labels(OPERATION, "200");
        this.partial = metrics.requests.labels(OPERATION, "206");
        this.seconds = metrics.seconds.labels(OPERATION);
        this.cacheHits = metrics.cacheResults.labels(CacheResult.HIT.label());
        this.bytes = metrics.deliveredBytes.labels(TRANSPORT);
        this.cacheHitBytes = metrics.cacheBytes.labels(CacheResult.HIT.label(), TRANSPORT);
    }

    AccessLog accessLog() {
        return accessLog;
    }

    void begun(String bucket, long length) {
        metrics.inFlight.inc();
        cacheHits.inc();
        bytes.inc((double) length);
        cacheHitBytes.inc((double) length);
        metrics.avoidedBytes.inc((double) length);
        metrics.buckets.delivered(bucket, length);
    }

    /** Counts an unexpected exception. */
    void failed() {
        metrics.internalErrors.labels("request").inc();
    }

    /**
     * @param tenant "" for an unknown sender
     * @param nanos from the head's arrival until the kernel took the last byte
     */
    void ended(String tenant, String bucket, int status, long length, long nanos) {
        metrics.inFlight.dec();
        (status == 206 ? partial : whole).inc();
        seconds.observe(nanos / 1e9);
        metrics.buckets.succeeded(bucket);
        metrics.usage.of(tenant, bucket).hit(length, nanos);
    }
}
