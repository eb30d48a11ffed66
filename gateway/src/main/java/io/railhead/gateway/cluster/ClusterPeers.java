package io.railhead.gateway.cluster;

import io.railhead.cache.Change;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.Peers;
import io.railhead.cluster.Cluster;
import io.railhead.cluster.ClusterState;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/**
 * The other members of this gateway's cluster, for its cache. Vouches for nothing before it has
 * joined. Any thread.
 */
public final class ClusterPeers implements Peers, AutoCloseable {
    /** Less than an operator's call waits for; a member visits all of its pages, and its disks. */
    private static final Duration EVICTION_PATIENCE = Duration.ofSeconds(8);
    private static final Executor ELSEWHERE = task -> Thread.ofVirtual().start(task);

    private final Cluster cluster;

    /** @param ownedCluster not joined yet; closed with this */
    public ClusterPeers(Cluster ownedCluster) {
        this.cluster = ownedCluster;
    }

    /**
     * Joins the cluster. Blocks until there is a view of it.
     *
     * @param cache what other members change is changed there, too
     * @throws IllegalStateException with one line if the port cannot be opened
     */
    public void join(ObjectCache cache) {
        cluster.join(change -> cache.heard(ChangeFormat.change(change)));
    }

    @Override
    public boolean vouchFor(long learntAtNanos) {
        return cluster.covers(learntAtNanos);
    }

    /** Completes on a thread of its own: whoever waits may ask a store next. */
    @Override
    public CompletionStage<Void> tell(Change change) {
        CompletableFuture<Boolean> heard = cluster.tell(ChangeFormat.bytes(change))
                .toCompletableFuture();
        return heard.isDone() ? NOBODY : heard.thenAcceptAsync(_ -> {}, ELSEWHERE);
    }

    @Override
    public CompletionStage<Boolean> tellAll(Change.Eviction eviction) {
        return cluster.tellAll(ChangeFormat.bytes(eviction), EVICTION_PATIENCE);
    }

    public ClusterState state() {
        return cluster.state();
    }

    /** Leaves the cluster; nobody must be served any more. Blocks. */
    @Override
    public void close() {
        cluster.close();
    }
}
