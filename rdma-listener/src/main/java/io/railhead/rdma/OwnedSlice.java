package io.railhead.rdma;

import io.railhead.cache.memory.PageSlice;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A slice that a transfer owns until its bytes have moved, or until nothing can touch it. It is
 * ended once, by one thread.
 */
public final class OwnedSlice {

    /** Which way the bytes go. */
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

    /** Ends with the slice: the caller's again after a read, closed after a write. */
    public CompletableFuture<PageSlice> outcome() {
        return outcome;
    }

    /** The end of a write, which has no slice to give back. */
    public CompletionStage<Void> written() {
        CompletableFuture<Void> written = new CompletableFuture<>();
        // Not a dependent stage: that would wrap the failure.
        var _ = outcome.whenComplete((_, failure) -> {
            if (failure == null) {
                written.complete(null);
            } else {
                written.completeExceptionally(failure);
            }
        });
        return written;
    }

    /** Nothing touches the bytes any more; a failure is counted with its reason. */
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
