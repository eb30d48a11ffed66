package io.railhead.rdma.dc;

import io.railhead.cache.memory.PageSlice;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.poller.Work;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One slice on its way to or from a target. It owns the slice until its bytes have moved, or until
 * nothing can touch it. Also the message that brings it to the poller.
 */
final class DcWork implements Work, Runnable {

    /** Which way the bytes go. */
    enum Direction {
        TO_PEER,
        FROM_PEER
    }

    private final DcTransfer transfer;
    private final Direction direction;
    private final PageSlice ownedSlice;
    private final long remote;
    private final CompletableFuture<PageSlice> outcome = new CompletableFuture<>();

    DcWork(DcTransfer transfer, Direction direction, PageSlice ownedSlice, long remote) {
        this.transfer = transfer;
        this.direction = direction;
        this.ownedSlice = ownedSlice;
        this.remote = remote;
    }

    Direction direction() {
        return direction;
    }

    PageSlice slice() {
        return ownedSlice;
    }

    /** Its first byte's address in the peer. */
    long remote() {
        return remote;
    }

    /** Ends with the slice: the caller's again after a read, closed after a write. */
    CompletableFuture<PageSlice> outcome() {
        return outcome;
    }

    @Override
    public void run() {
        transfer.add(this);
    }

    @Override
    public void ended(boolean arrived) {
        transfer.budget().giveBack(ownedSlice.length());
        finish(arrived ? null : transfer.broken());
        transfer.ended();
    }

    /** It was never posted. */
    void dropped(TransferException reason) {
        finish(reason);
    }

    private void finish(@Nullable TransferException failure) {
        if (failure != null) {
            ownedSlice.close();
            transfer.counts().refused(failure.reason());
            outcome.completeExceptionally(failure);
            return;
        }
        switch (direction) {
            case TO_PEER -> {
                transfer.counts().written(ownedSlice.length());
                ownedSlice.close();
            }
            case FROM_PEER -> transfer.counts().read(ownedSlice.length());
        }
        outcome.complete(ownedSlice);
    }
}
