package io.railhead.gateway.metrics;

import io.prometheus.client.Collector;
import io.prometheus.client.CollectorRegistry;
import io.prometheus.client.Counter;
import io.prometheus.client.Gauge;
import io.prometheus.client.Histogram;
import io.prometheus.client.exporter.common.TextFormat;
import io.prometheus.client.hotspot.BufferPoolsExports;
import io.prometheus.client.hotspot.ClassLoadingExports;
import io.prometheus.client.hotspot.GarbageCollectorExports;
import io.prometheus.client.hotspot.MemoryAllocationExports;
import io.prometheus.client.hotspot.MemoryPoolsExports;
import io.prometheus.client.hotspot.StandardExports;
import io.prometheus.client.hotspot.ThreadExports;
import io.prometheus.client.hotspot.VersionInfoExports;
import io.railhead.gateway.accounting.UsageCollector;
import io.railhead.gateway.accounting.UsageTable;
import io.railhead.gateway.s3.S3Error;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The gateway's own metrics; {@link #register} adds further collectors. Any thread. */
public final class Metrics {
    private static final Logger LOG = LoggerFactory.getLogger(Metrics.class);
    /** S3's codes for bytes that do not match their declaration. */
    private static final Set<String> OTHER_BYTES = Set.of(S3Error.BAD_DIGEST.code(),
            S3Error.CONTENT_SHA256_MISMATCH.code());
    private static final String MISS = "miss";
    private static final String BYPASS = "bypass";
    private static final int BUCKETS = 100;
    private static final int ERRORS = 50;

    private final CollectorRegistry registry = new CollectorRegistry();

    public final Counter requests = counter("railhead_requests_total", "Requests answered.",
            "operation", "status");
    public final Counter cacheResults = counter("railhead_cache_requests_total",
            "Object reads by what the cache did for them.", "result");
    public final Counter errors = counter("railhead_errors_total",
            "Errors of the gateway's own making.", "code");
    public final Counter internalErrors = counter("railhead_internal_errors_total",
            "Steps of the gateway that threw what nobody expected, by what they were for.",
            "where");
    public final Counter policyDenied = counter("railhead_policy_denied_total",
            "Requests that the policy file does not allow.", "action");
    public final Counter cutBodies = counter("railhead_cut_bodies_total",
            "Bodies that could not be finished and were cut.", "reason");
    public final Counter closedConnections = counter("railhead_closed_connections_total",
            "Connections closed on clients that kept them too long.", "reason");
    public final Counter revalidations = counter("railhead_revalidations_total",
            "Questions to the backend before a hit.", "result");
    public final Counter staleServed = counter("railhead_stale_served_total",
            "Reads answered although the backend did not, by rule.", "backend");
    public final Counter uploadsKept = counter("railhead_uploads_kept_total",
            "Uploads that a rule wants kept, by what became of that.", "outcome");
    public final Counter events = counter("railhead_events_total",
            "Events that stores sent, or that came without being one.", "outcome");
    public final Counter sts = counter("railhead_sts_calls_total",
            "Calls that exchange a token for credentials or ask who signs, by how they ended.",
            "outcome");
    public final Counter fileReloads = counter("railhead_file_reloads_total",
            "Changed files of the configuration, by setting.", "setting", "outcome");
    public final Gauge fileRefused = Gauge
            .build("railhead_file_refused", "1 while a file of the configuration cannot be used,"
                    + " and what it held before is in force.")
            .labelNames("setting")
            .register(registry);
    public final Counter deliveredBytes = counter("railhead_delivered_bytes_total",
            "Object bytes delivered out of the cache, or into memory; over HTTP not what is relayed.",
            "transport");
    public final Counter avoidedBytes = Counter
            .build("railhead_store_bytes_avoided_total",
                    "Object bytes delivered that the store did not have to send.")
            .register(registry);
    public final Counter authorizations = counter("railhead_authorization_decisions_total",
            "Decisions on requests, by who made them.", "source", "result");
    public final Counter integrityFailures = counter("railhead_integrity_failures_total",
            "Bytes that were not what they were said to be, and were refused.", "stage");
    public final Counter cacheBytes = counter("railhead_cache_bytes_total",
            "Bytes delivered, by what the cache did for them; bypass: bodies that are relayed.",
            "result", "transport");
    public final BucketCounts buckets = register(new BucketCounts(BUCKETS));
    public final UsageTable usage = new UsageTable();
    public final RecentErrors recentErrors = new RecentErrors(ERRORS);
    public final Counter rdmaRequests = counter("railhead_rdma_requests_total",
            "Requests with a token that were not declined.",
            "dialect", "result");
    public final Counter rdmaDeclined = counter("railhead_rdma_declined_total",
            "Requests with a token, or over a channel, that were not served by RDMA.", "reason");
    public final Counter channelRequests = counter("railhead_channel_requests_total",
            "Requests over native channels.", "operation", "outcome");
    public final Counter rdmaRefused = counter("railhead_rdma_refused_total",
            "Requests with a token that were refused with an error.", "reason");
    public final Counter rdmaRepeats = Counter
            .build("railhead_rdma_repeats_total",
                    "Requests with a token that their client sent twice within two seconds.")
            .register(registry);
    public final Counter lostLogLines = Counter
            .build("railhead_access_log_lost_lines_total",
                    "Lines of the access log that could not be written, or not fast enough.")
            .register(registry);
    public final Counter spans = counter("railhead_spans_total",
            "Spans for the collector, by whether it took them.", "outcome");
    public final Counter refused = counter("railhead_refused_total",
            "Requests answered with SlowDown before they cost anything.", "reason", "tenant");
    public final Counter rateLimited = counter("railhead_rate_limited_total",
            "Requests answered with SlowDown since their tenant is at its rate.", "tenant",
            "limit");
    public final Counter waited = Counter
            .build("railhead_waited_requests_total",
                    "Requests that waited for their turn, since their event loop was busy.")
            .register(registry);
    public final Counter adminCalls = counter("railhead_admin_calls_total",
            "Calls of the admin API, by how they ended or why they were refused.", "call",
            "result");
    public final Counter auditEvents = counter("railhead_audit_events_total",
            "Events put into the audit stream.", "kind");
    public final Counter auditLost = counter("railhead_audit_lost_total",
            "Audit events that a destination did not take: its queue was full, or the gateway"
                    + " stopped.",
            "sink", "reason");
    public final Counter auditSuppressed = counter("railhead_audit_suppressed_total",
            "Audit events above the limit of their kind or sender; one event counts them.",
            "kind");
    public final Counter peerFills = counter("railhead_cluster_peer_fills_total",
            "Runs that another gateway of the cluster was asked for, by how it answered. `filled`"
                    + " came from the owner, `handed_over` from the owner of before. All others"
                    + " ended at the store: `not_held` says that the owner of before has not all,"
                    + " `busy` found no connection free, `skipped` was not asked, since it was"
                    + " `silent` or `unreachable` a second before.",
            "result");
    public final Counter peerAnswers = counter("railhead_cluster_peer_answers_total",
            "Runs that other gateways of the cluster have asked for here, by how the answer ended."
                    + " `greeted` counts first connections of members, which ask for none.",
            "result");
    public final Counter peerBytes = counter("railhead_cluster_peer_bytes_total",
            "Object bytes between gateways of the cluster: `in` for those that this one asked for.",
            "direction");
    public final Gauge auditFailing = Gauge
            .build("railhead_audit_failing", "1 while a destination takes no audit events.")
            .labelNames("sink")
            .register(registry);
    public final Gauge inFlight = Gauge
            .build("railhead_requests_in_flight", "Requests being answered.")
            .register(registry);
    public final Histogram seconds = Histogram
            .build("railhead_request_seconds", "From the head to the last byte.")
            .labelNames("operation")
            .buckets(50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1,
                    0.25, 0.5, 1, 2.5, 10)
            .register(registry);
    public final Histogram backendSeconds = Histogram
            .build("railhead_backend_seconds", "Until a store's answer begins, retries included.")
            .labelNames("backend")
            .buckets(250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5, 1,
                    2.5, 10, 30)
            .register(registry);

    public Metrics() {
        List.of(new StandardExports(), new MemoryPoolsExports(), new MemoryAllocationExports(),
                new BufferPoolsExports(), new GarbageCollectorExports(), new ThreadExports(),
                new ClassLoadingExports(), new VersionInfoExports()).forEach(this::register);
        register(new UsageCollector(usage));
        Gauge.build("railhead_application_log_failed",
                "1 once a line of the application's log could not be written.")
                .register(registry)
                .setChild(new Gauge.Child() {
                    @Override
                    public double get() {
                        return System.err.checkError() ? 1 : 0;
                    }
                });
        Gauge.build("railhead_build_info", "1, with the version that runs.")
                .labelNames("version")
                .register(registry)
                .labels(version())
                .set(1);
    }

    /** Returns the version of the build; "" outside a release. */
    public static String version() {
        String version = Metrics.class.getPackage().getImplementationVersion();
        return version == null ? "" : version;
    }

    /** Counts object bytes that are delivered to a client. */
    public void delivered(String bucket, String result, String transport, long bytes) {
        deliveredBytes.labels(transport).inc((double) bytes);
        cacheBytes.labels(result, transport).inc((double) bytes);
        if (!result.equals(MISS) && !result.equals(BYPASS)) {
            avoidedBytes.inc((double) bytes);
        }
        buckets.delivered(bucket, bytes);
    }

    /** Counts an error response of the gateway's own. */
    public void failed(String requestId, String code, int status, String operation,
            String bucket) {
        failed(code);
        recentErrors.add(requestId, code, status, operation, bucket);
    }

    /** Returns all metrics in Prometheus' text format. Walks every series: not on an event loop. */
    public String text() {
        StringWriter out = new StringWriter(16 << 10);
        try {
            TextFormat.write004(out, registry.metricFamilySamples());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toString();
    }

    private Counter counter(String name, String help, String... labels) {
        return Counter.build(name, help).labelNames(labels).register(registry);
    }

    private void failed(String code) {
        errors.labels(code).inc();
        if (OTHER_BYTES.contains(code)) {
            integrityFailures.labels("upload").inc();
        }
    }

    /** Adds a collector. If it throws, only its own series are missing from that scrape. */
    public <T extends Collector> T register(T collector) {
        new GuardedCollector(collector, this::scrapeFailed).register(registry);
        return collector;
    }

    private void scrapeFailed(Collector collector, Throwable thrown) {
        LOG.warn("scrape: {} failed", collector.getClass().getSimpleName(), thrown);
        internalErrors.labels("scrape").inc();
    }

    public CollectorRegistry registry() {
        return registry;
    }
}
