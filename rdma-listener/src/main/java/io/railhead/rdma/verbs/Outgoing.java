package io.railhead.rdma.verbs;

import io.railhead.rdma.poller.Work;
/** Something that waits to be posted to a link's send queue. Its poller only. */
interface Outgoing extends Work {

    /**
     * Adds what fits to the chain; true once all of it is added, or none of it is needed any more.
     */
    boolean tryAdd(WorkRequestBatch workRequestBatch);

    /** Whether some of it is added, but not all. */
    default boolean isBegun() {
        return false;
    }

    /** It will not be posted, or not to its end; what was of it cannot be touched any more. */
    void dropped();
}
