package io.railhead.rdma.verbs;

import com.ibm.disni.verbs.IbvSendWR;
import io.railhead.cache.memory.PageSlice;
import io.railhead.rdma.TransferException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One slice on its way to or from a peer. It owns the slice until its bytes have moved, or until
 * nothing can touch it. Also the message that brings it to its poller.
 */
final class SliceWork implements Outgoing, Runnable {

    /** Which way the bytes go. */
    enum Direction {
        TO_PEER(IbvSendWR.IBV_WR_RDMA_WRITE),
        FROM_PEER(IbvSendWR.IBV_WR_RDMA_READ);

        private final int operation;

        Direction(int operation) {
            this.operation = operation;
        }
    }

    private final VerbsTransfer transfer;
    private final Direction direction;
    private final PageSlice ownedSlice;
    private final long remote;
    private final CompletableFuture<PageSlice> outcome = new CompletableFuture<>();

    SliceWork(VerbsTransfer transfer, Direction direction, PageSlice ownedSlice, long remote) {
        this.transfer = transfer;
        this.direction = direction;
        this.ownedSlice = ownedSlice;
        this.remote = remote;
    }

    VerbsTransfer transfer() {
        return transfer;
    }

    /** Ends with the slice: the caller's again after a read, closed after a write. */
    CompletableFuture<PageSlice> outcome() {
        return outcome;
    }

    @Override
    public void run() {
        transfer.carrier().link().transfer(this);
    }

    @Override
    public boolean tryAdd(WorkRequestBatch workRequestBatch) {
        TransferException stop = transfer.findReasonToStop();
        if (stop != null) {
            finish(stop);
            return true;
        }
        if (!workRequestBatch.tryTransfer(direction.operation, ownedSlice, remote,
                transfer.region().remoteKey())) {
            return false;
        }
        workRequestBatch.end(this);
        transfer.posted();
        return true;
    }

    @Override
    public void ended(boolean arrived) {
        transfer.carrier().link().budget().giveBack(ownedSlice.length());
        finish(arrived ? null : transfer.broken());
        transfer.ended();
    }

    @Override
    public void dropped() {
        finish(transfer.broken());
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
                transfer.written(ownedSlice.length());
                ownedSlice.close();
            }
            case FROM_PEER -> transfer.read(ownedSlice.length());
        }
        outcome.complete(ownedSlice);
    }
}
