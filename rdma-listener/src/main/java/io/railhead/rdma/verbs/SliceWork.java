package io.railhead.rdma.verbs;

import com.ibm.disni.verbs.IbvSendWR;
import io.railhead.rdma.OwnedSlice;
import io.railhead.rdma.TransferException;

/**
 * One slice on its way to or from a peer, and the task that brings it to its poller.
 *
 * @param remote the peer's address of its first byte
 */
record SliceWork(VerbsTransfer transfer, OwnedSlice slice, long remote)
        implements
            Outgoing,
            Runnable {

    @Override
    public void run() {
        transfer.transferQueue().link().transfer(this);
    }

    @Override
    public boolean tryAdd(WorkRequestBatch workRequestBatch) {
        TransferException stop = transfer.findReasonToStop();
        if (stop != null) {
            slice.end(stop, transfer.counts());
            return true;
        }
        if (!workRequestBatch.tryTransfer(operation(), slice.slice(), remote,
                transfer.region().remoteKey())) {
            return false;
        }
        workRequestBatch.end(this);
        transfer.posted();
        return true;
    }

    private int operation() {
        return switch (slice.direction()) {
            case TO_PEER -> IbvSendWR.IBV_WR_RDMA_WRITE;
            case FROM_PEER -> IbvSendWR.IBV_WR_RDMA_READ;
        };
    }

    @Override
    public void ended(boolean arrived) {
        transfer.transferQueue().link().budget().giveBack(slice.bytes());
        if (arrived) {
            transfer.moved(slice.direction(), slice.bytes());
        }
        slice.end(arrived ? null : transfer.broken(), transfer.counts());
        transfer.ended();
    }

    @Override
    public void dropped() {
        slice.end(transfer.broken(), transfer.counts());
    }
}
