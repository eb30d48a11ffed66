package io.railhead.gateway.channel;

import io.prometheus.client.Counter;
import io.prometheus.client.Histogram;
import io.railhead.gateway.accounting.Usage;
import io.railhead.gateway.delivery.CacheResult;
import io.railhead.gateway.metrics.Metrics;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.RequestOperation;
import io.railhead.rdma.channel.RequestChannel;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counters of native requests. The series of a hit are looked up once. Any thread. */
final class ChannelCounts {
    private static final Logger LOG = LoggerFactory.getLogger(ChannelCounts.class);

    private final Metrics metrics;
    private final Counter.Child hits;
    private final Counter.Child cacheHits;
    private final Counter.Child hitBytes;
    private final Histogram.Child hitSeconds;
    private final Counter.Child cacheHitBytes;

    /** @param fabric the fabric's name in metrics */
    ChannelCounts(Metrics metrics, String fabric) {
        this.metrics = metrics;
        this.hits = metrics.channelRequests.labels("get", Outcome.DELIVERED.label());
        this.cacheHits = metrics.cacheResults.labels(CacheResult.HIT.label());
        this.hitSeconds = metrics.seconds.labels("channel_get");
        this.hitBytes = metrics.deliveredBytes.labels(fabric);
        this.cacheHitBytes = metrics.cacheBytes.labels(CacheResult.HIT.label(), fabric);
    }

    /** The end of a request. */
    enum Outcome {
        DELIVERED,
        STORED,
        DESCRIBED,
        REMOVED,
        /** Declined by the gateway; the client falls back to HTTP. */
        DECLINED,
        CANCELLED,
        /** Ended by an error of the gateway or the store. */
        FAILED,
        /** Ended by the end of the channel, without a response. */
        LOST;

        String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** @param nanos until the request was handed to the fabric */
    void hit(String bucket, Usage usage, long bytes, long nanos) {
        usage.hit(bytes, nanos);
        hitSeconds.observe((double) nanos / 1e9);
        hits.inc();
        cacheHits.inc();
        hitBytes.inc((double) bytes);
        cacheHitBytes.inc((double) bytes);
        metrics.avoidedBytes.inc((double) bytes);
        metrics.buckets.succeeded(bucket);
        metrics.buckets.delivered(bucket, bytes);
    }

    void ended(String bucket, RequestOperation operation, Outcome outcome) {
        switch (outcome) {
            case DELIVERED, STORED, DESCRIBED, REMOVED -> metrics.buckets.succeeded(bucket);
            case CANCELLED, FAILED, LOST -> metrics.buckets.failed(bucket);
            // The client's retry over HTTP is counted there.
            case DECLINED -> {
            }
        }
        metrics.channelRequests
                .labels(operation.name().toLowerCase(Locale.ROOT), outcome.label())
                .inc();
    }

    void declined(String reason) {
        metrics.rdmaDeclined.labels(reason).inc();
    }

    void error(String requestId, S3Refusal error, RequestOperation operation, String bucket) {
        metrics.failed(requestId, error.error().code(), error.status(),
                "channel_" + operation.name().toLowerCase(Locale.ROOT), bucket);
    }

    /** Logs an unexpected failure, and returns an error without its details for the peer. */
    S3Refusal unexpected(RequestChannel channel, int requestId, RequestOperation operation,
            Throwable cause) {
        metrics.internalErrors.labels("channel").inc();
        LOG.atWarn()
                .setCause(cause)
                .addKeyValue("request_id",
                        Answer.requestId(channel.session().number(), requestId))
                .addKeyValue("operation", operation)
                .addKeyValue("principal", channel.session().principal())
                .log("native request failed");
        return new S3Refusal(S3Error.INTERNAL_ERROR);
    }

    void took(RequestOperation operation, long nanos) {
        metrics.seconds.labels("channel_" + operation.name().toLowerCase(Locale.ROOT))
                .observe(nanos / 1e9);
    }

    void started() {
        metrics.inFlight.inc();
    }

    void over() {
        metrics.inFlight.dec();
    }
}
