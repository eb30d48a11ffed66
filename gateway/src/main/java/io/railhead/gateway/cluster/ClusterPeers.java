package io.railhead.gateway.cluster;

import io.railhead.cache.Change;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.Peers;
import io.railhead.cluster.Cluster;
import io.railhead.cluster.ClusterState;
import java.util.concurrent.CompletionStage;

/**
 * The other members of this gateway's cluster, for its cache. Vouches for nothing before it has
 * joined. Any thread.
 */
public final class ClusterPeers implements Peers, AutoCloseable {
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

    @Override
    public CompletionStage<Void> tell(Change change) {
        return cluster.tell(ChangeFormat.bytes(change));
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
