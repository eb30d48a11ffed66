package io.railhead.rdma;

import io.railhead.cache.memory.PageSlice;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A slice that a transfer owns until its bytes have moved, or until nothing can touch it. One
 * thread ends it, once.
 */
public final class OwnedSlice {

    /** The direction of the bytes. */
    public enum Direction {
        TO_PEER,
        FROM_PEER
    }

    private final Direction direction;
    private final PageSlice slice;
    private final CompletableFuture<PageSlice> outcome = new CompletableFuture<>();

    public OwnedSlice(Direction direction, PageSlice owned) {
        this.direction = direction;
        this.slice = owned;
    }

    public Direction direction() {
        return direction;
    }

    public PageSlice slice() {
        return slice;
    }

    public int bytes() {
        return slice.length();
    }

    /**
     * Returns the outcome: after a read, the slice belongs to the caller again; after a write, it
     * is closed.
     */
    public CompletableFuture<PageSlice> outcome() {
        return outcome;
    }

    /** Returns the end of a write, which has no slice to return. */
    public CompletionStage<Void> written() {
        CompletableFuture<Void> written = new CompletableFuture<>();
        // Not a dependent stage, which would wrap the failure.
        var _ = outcome.whenComplete((_, failure) -> {
            if (failure == null) {
                written.complete(null);
            } else {
                written.completeExceptionally(failure);
            }
        });
        return written;
    }

    /** Ends the slice once nothing touches its bytes; a failure is counted by its reason. */
    public void end(@Nullable TransferException failure, FabricCounts counts) {
        if (failure != null || direction == Direction.TO_PEER) {
            slice.close();
        }
        if (failure == null) {
            outcome.complete(slice);
        } else {
            counts.refused(failure.reason());
            outcome.completeExceptionally(failure);
        }
    }
}
