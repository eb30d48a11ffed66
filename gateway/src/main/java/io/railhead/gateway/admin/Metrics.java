package io.railhead.gateway.admin;

import io.prometheus.client.Collector;
import io.prometheus.client.CollectorRegistry;
import io.prometheus.client.Counter;
import io.prometheus.client.Gauge;
import io.prometheus.client.Histogram;
import io.prometheus.client.hotspot.DefaultExports;

/** What the gateway counts itself; what others count is added by {@link #register}. Any thread. */
public final class Metrics {
    private final CollectorRegistry registry = new CollectorRegistry();

    public final Counter requests = counter("railhead_requests_total", "Requests answered.",
            "operation", "status");
    public final Counter cacheResults = counter("railhead_cache_requests_total",
            "Object reads by what the cache did for them.", "result");
    public final Counter errors = counter("railhead_errors_total",
            "Errors of the gateway's own making.", "code");
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
    public final Counter fileReloads = counter("railhead_file_reloads_total",
            "Changed files of the configuration, by setting.", "setting", "outcome");
    public final Counter deliveredBytes = counter("railhead_delivered_bytes_total",
            "Object bytes delivered.",
            "transport");
    public final Counter rdmaRequests = counter("railhead_rdma_requests_total",
            "Requests that carried a token.",
            "dialect", "result");
    public final Counter rdmaDeclined = counter("railhead_rdma_declined_total",
            "Requests with a token, or over a channel, that were not served by RDMA.", "reason");
    public final Counter channelRequests = counter("railhead_channel_requests_total",
            "Requests over native channels.", "operation", "outcome");
    public final Counter rdmaRefused = counter("railhead_rdma_refused_total",
            "Requests with a token that were refused with an error.", "reason");
    public final Counter lostLogLines = Counter
            .build("railhead_access_log_lost_lines_total",
                    "Lines of the access log that came faster than they could be written.")
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

    public Metrics() {
        DefaultExports.register(registry);
    }

    private Counter counter(String name, String help, String... labels) {
        return Counter.build(name, help).labelNames(labels).register(registry);
    }

    public <T extends Collector> T register(T collector) {
        return collector.register(registry);
    }

    public CollectorRegistry registry() {
        return registry;
    }
}
