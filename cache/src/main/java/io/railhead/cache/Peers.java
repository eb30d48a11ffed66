package io.railhead.cache;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The other gateways of one cache, as this one's cache sees them. Any thread; no call blocks.
 */
public interface Peers {
    /** A stage for what nobody else needs to hear. */
    CompletionStage<Void> NOBODY = CompletableFuture.completedFuture(null);

    /** No other gateway. */
    Peers NONE = new Peers() {
        @Override
        public boolean vouchFor(long learntAtNanos) {
            return true;
        }

        @Override
        public CompletionStage<Void> tell(Change change) {
            return NOBODY;
        }

        @Override
        public CompletionStage<Boolean> tellAll(Change.Eviction eviction) {
            return CompletableFuture.completedStage(true);
        }
    };

    /**
     * Returns whether each of them would have told by now of a change since then. If not, the store
     * must be asked. Called for each hit.
     */
    boolean vouchFor(long learntAtNanos);

    /**
     * Tells them a change that has happened. The stage completes when none of them serves what was
     * before it without asking a store. It never fails.
     */
    CompletionStage<Void> tell(Change change);

    /**
     * Takes note that names are being evicted here: for a while no page of theirs is taken from
     * another gateway, which may not have evicted it yet.
     */
    default void evicting(Selection names) {}

    /**
     * Tells them an eviction. A store that is asked may confirm what was evicted, so it counts only
     * where it was done.
     *
     * @return completes with whether each of them has evicted it, from disks too; never fails
     */
    CompletionStage<Boolean> tellAll(Change.Eviction eviction);
}
