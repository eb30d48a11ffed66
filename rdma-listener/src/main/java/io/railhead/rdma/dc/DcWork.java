package io.railhead.rdma.dc;

import io.railhead.rdma.OwnedSlice;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.poller.Work;

/**
 * One slice on its way to or from a target, and the task that brings it to the poller.
 *
 * @param remote the peer's address of its first byte
 */
record DcWork(DcTransfer transfer, OwnedSlice slice, long remote) implements Work, Runnable {

    @Override
    public void run() {
        transfer.add(this);
    }

    @Override
    public void ended(boolean arrived) {
        transfer.budget().giveBack(slice.bytes());
        if (arrived) {
            transfer.counts().moved(slice.direction(), slice.bytes());
        }
        slice.end(arrived ? null : transfer.broken(), transfer.counts());
        transfer.ended();
    }

    /** Ends a slice that was never posted. */
    void dropped(TransferException reason) {
        slice.end(reason, transfer.counts());
    }
}
