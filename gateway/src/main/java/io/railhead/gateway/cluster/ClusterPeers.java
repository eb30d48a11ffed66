package io.railhead.gateway.cluster;

import io.railhead.cache.Change;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.Peers;
import io.railhead.cache.Selection;
import io.railhead.cluster.Cluster;
import io.railhead.cluster.ClusterConfig;
import io.railhead.cluster.ClusterState;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The other members of this gateway's cluster, for its cache. Vouches for nothing before it has
 * joined. Any thread.
 */
public final class ClusterPeers implements Peers, AutoCloseable {
    /** Less than an operator's call waits for; a member visits all of its pages, and its disks. */
    private static final Duration EVICTION_PATIENCE = Duration.ofSeconds(8);
    private static final Executor ELSEWHERE = task -> Thread.ofVirtual().start(task);

    private final Cluster cluster;
    private final RecentEvictions evicted = new RecentEvictions();

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

    @Override
    public void evicting(Selection names) {
        evicted.add(names, System.nanoTime());
    }

    /**
     * Returns where the owner of a run answers; null if this gateway owns it, or shares nothing of
     * the backend out. An owner may still have what was evicted here a moment ago.
     *
     * @param index the run's offset in the object, in runs
     */
    ClusterConfig.@Nullable Address ownerOf(String backend, String bucket, String key,
            long index) {
        return evicted.cover(bucket, key, System.nanoTime())
                ? null
                : cluster.ownerOf(backend, bucket, key, index);
    }

    /**
     * Returns where the member answers that owned a run before; null if none is there. It may still
     * have what was evicted here a moment ago.
     *
     * @param index the run's offset in the object, in runs
     */
    ClusterConfig.@Nullable Address previousOwnerOf(String backend, String bucket, String key,
            long index) {
        return evicted.cover(bucket, key, System.nanoTime())
                ? null
                : cluster.previousOwnerOf(backend, bucket, key, index);
    }

    /** Returns where the other members of the view answer fills. */
    Set<ClusterConfig.Address> fills() {
        return cluster.fills();
    }

    /** Returns whether some member of the view answers fills there. */
    boolean isThere(ClusterConfig.Address fills) {
        return cluster.isThere(fills);
    }

    /** Tells the others from now on where clients reach this gateway. */
    public void serveAt(String endpoint) {
        cluster.serveAt(endpoint);
    }

    /**
     * Returns where clients reach each owner that is as this gateway in every fact, by its name;
     * empty if this gateway shares nothing out.
     */
    public Map<String, String> endpoints() {
        return cluster.endpoints();
    }

    /** Owns nothing from now on; the others ask for what is held until this is closed. */
    public void leave() {
        cluster.leave();
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
