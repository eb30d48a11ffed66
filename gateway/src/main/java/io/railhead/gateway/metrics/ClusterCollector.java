package io.railhead.gateway.metrics;

import io.prometheus.client.Collector;
import io.prometheus.client.CounterMetricFamily;
import io.prometheus.client.GaugeMetricFamily;
import io.railhead.cluster.ClusterState;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

/** Collects the state of this gateway's cluster at each scrape. */
public final class ClusterCollector extends Collector {
    private static final double NANOS = 1e9;

    private final Supplier<ClusterState> state;

    public ClusterCollector(Supplier<ClusterState> state) {
        this.state = state;
    }

    @Override
    public List<MetricFamilySamples> collect() {
        ClusterState now = state.get();
        GaugeMetricFamily silence = new GaugeMetricFamily("railhead_cluster_member_silence_seconds",
                "Age of the last answer of each other member; above the lease of 2 s every read asks"
                        + " its store. -1 if it has given none yet.",
                List.of("member"));
        GaugeMetricFamily differing = new GaugeMetricFamily("railhead_cluster_member_differences",
                "Keys of the configuration that are not the same at each other member, where they"
                        + " must be to share objects out.",
                List.of("member"));
        for (ClusterState.Peer peer : now.peers()) {
            List<String> name = List.of(peer.member().name());
            Duration age = peer.silence();
            silence.addMetric(name, age == null ? -1 : age.toNanos() / NANOS);
            differing.addMetric(name, peer.differing().size());
        }
        CounterMetricFamily changes = new CounterMetricFamily("railhead_cluster_changes",
                "Changes that this gateway has `told` to the others, and those of others that it has"
                        + " `applied`.",
                List.of("direction"));
        changes.addMetric(List.of("told"), (double) now.casts());
        changes.addMetric(List.of("applied"), (double) now.applied());
        return List.of(silence, differing, changes,
                new GaugeMetricFamily("railhead_cluster_members",
                        "Members of the cluster that this gateway sees, itself included.",
                        now.peers().size() + 1.0),
                new GaugeMetricFamily("railhead_cluster_lease",
                        "1 while every other member answers, so that objects may be served without"
                                + " asking their store; 0 otherwise.",
                        now.isLeaseHeld() ? 1 : 0),
                counter("railhead_cluster_unheard",
                        "Changes that a member did not acknowledge, so that their writers waited"
                                + " until its lease had passed.",
                        now.unheard()),
                counter("railhead_cluster_gaps",
                        "Times that changes of another member were missing, after which everything is"
                                + " asked once.",
                        now.gaps()),
                counter("railhead_cluster_views",
                        "Changes of the membership, after each of which everything is asked once.",
                        now.views()),
                counter("railhead_cluster_refused_messages",
                        "Messages of other members that could not be read or applied.",
                        now.refusedFrames()));
    }

    private static CounterMetricFamily counter(String name, String help, long value) {
        return new CounterMetricFamily(name, help, (double) value);
    }
}
