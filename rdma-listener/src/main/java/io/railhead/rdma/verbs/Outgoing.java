package io.railhead.rdma.verbs;

import io.railhead.rdma.poller.Work;
/** Work that waits to be posted to a connection's send queue. Its poller only. */
interface Outgoing extends Work {

    /**
     * Adds to the batch what fits; returns true once everything is added, or nothing is needed any
     * more.
     */
    boolean tryAdd(WorkRequestBatch workRequestBatch);

    /** Returns whether a part is added, but not all. */
    default boolean isBegun() {
        return false;
    }

    /** Ends work that will not be posted in full; nothing touches its posted part any more. */
    void dropped();
}
